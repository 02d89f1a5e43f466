"""Systems that keep an index of a folder: one scenario, an adapter each, the count of faults.

A module is named after the package that it adapts and imports it at its head, so a system whose
package is missing is told by the import; see :func:`indexers.systems.systems`.
"""
