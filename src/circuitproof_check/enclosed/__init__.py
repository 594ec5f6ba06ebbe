"""Enclosed arithmetic: integers and a radius, to the last bit those of `docs/certificate.md`."""
