/** Where each version of HyperConverged keeps the settings (hco 2). */
export const hyperConvergedFields = {
  v1beta1: {
    strategy: ['spec', 'workloadUpdateStrategy'],
    migrations: ['spec', 'liveMigrationConfig'],
  },
  v1: {
    strategy: ['spec', 'virtualization', 'workloadUpdateStrategy'],
    migrations: ['spec', 'virtualization', 'liveMigrationConfig'],
  },
} as const
