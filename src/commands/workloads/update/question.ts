/** What is asked before VMs are moved, by how each of them would be. */
export function questionOf(moves: readonly ('migration' | 'restart')[]): string {
  const restarts = moves.filter((by) => by === 'restart').length
  const migrations = `Migrate ${moves.length - restarts} VMs`
  return restarts > 0 ? `${migrations} and restart ${restarts}, which interrupts them?` : `${migrations}?`
}
