"""Compute the measurements of a confidential VM: vCPU count, SNP launch digest and ID block, TDX RTMR0.

Rule of this package: arithmetic over bytes and numbers. It reads no YAML and no files, and imports no other package.
"""
