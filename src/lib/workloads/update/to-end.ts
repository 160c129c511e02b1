interface NotEnded {
  /** VMs that are to move. */
  outdated: number
  /** Migrations that have not ended. */
  open: number
  /** VMs whose former launcher has not ended. */
  doubtful: number
}

/** What is waited for while KubeVirt moves VMs; undefined: nothing any more. Pure. */
export function toEnd({ outdated, open, doubtful }: NotEnded): string | undefined {
  if (outdated > 0) return `${outdated} outdated ${outdated === 1 ? 'VM' : 'VMs'} to move`
  if (open > 0) return `${open} ${open === 1 ? 'migration' : 'migrations'} to end`
  if (doubtful === 0) return undefined
  return `the virt-launchers that ${doubtful} ${doubtful === 1 ? 'VM has' : 'VMs have'} left to end`
}
