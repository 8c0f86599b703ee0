"""Whether the namespaces of the input admit the injected containers: PodSecurity, ResourceQuota, LimitRange.

Rule of this package: it evaluates the final pods of a render, never edits them, and has answers for `plan` and `check`
alone. The user's own containers count only where Kubernetes adds all containers of a pod up.
"""
