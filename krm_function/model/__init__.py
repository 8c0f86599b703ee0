"""The terms of Contrast and Kubernetes as data: workload, platform, runtime class, image, mesh, quantity, edit."""
