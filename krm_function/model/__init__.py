"""What Contrast and Kubernetes mean by their terms: workload, platform, runtime class, image, mesh, quantity, edit."""
