import type { HopFinding } from '../../releases/finding.ts'
import type { Fleet } from './fleet.ts'

/** Restarts that lose what a guest wrote into its pod: accepted by name, never by --yes alone (night W2). Pure. */
export function dataLoss({ loses }: Pick<Fleet, 'loses'>): readonly HopFinding[] {
  const losing = [...loses]
  if (losing.length === 0) return []
  const who = losing.length === 1 ? '1 VM' : `${losing.length} VMs`
  return [
    {
      id: 'data-loss',
      level: 'blocker',
      summary: `a restart of ${who} loses what was written to volumes that live in its pod`,
      objects: losing.slice(0, 20).map(([vm, volumes]) => `${vm} (${volumes.join(', ')})`),
      remedy: ['leave out --restart-unmigratable: these VMs stay as they are'],
    },
  ]
}
