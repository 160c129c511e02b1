/** Another operator in the namespace of HyperConverged, one release behind what its catalog has. */
export const nmo = {
  package: 'node-maintenance-operator',
  channel: 'stable',
  approval: 'Manual',
  installed: '5.3.0',
  entries: [
    { name: 'node-maintenance-operator.v5.3.0', version: '5.3.0' },
    {
      name: 'node-maintenance-operator.v5.4.0',
      version: '5.4.0',
      replaces: 'node-maintenance-operator.v5.3.0',
    },
  ],
} as const
