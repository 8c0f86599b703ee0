"""Generate execution policies: from a workload and the facts of its images to the initdata it is sealed with.

Rule of this package: no network, no clock, no randomness. An unknown to the generator is a located finding, never a
policy that allows more.

    settings -> subject -> process, identity, capabilities, mounts, devices -> containers -> document -> initdata
"""
