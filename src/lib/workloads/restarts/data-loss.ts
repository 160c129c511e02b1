import type { HopFinding } from '../../releases/finding.ts'

/**
 * Restarts that lose what a guest wrote into its pod: accepted by name, never by --yes alone (night W2). `loses`: by VM, the volumes;
 * `otherwise`: the command that restarts none of these. Pure.
 */
export function dataLoss(
  loses: Iterable<readonly [vm: string, volumes: readonly string[]]>,
  otherwise: string,
): readonly HopFinding[] {
  const losing = [...loses].filter(([, volumes]) => volumes.length > 0)
  if (losing.length === 0) return []
  const who = losing.length === 1 ? '1 VM' : `${losing.length} VMs`
  return [
    {
      id: 'data-loss',
      level: 'blocker',
      summary: `a restart of ${who} loses what was written to volumes that live in its pod`,
      objects: losing.slice(0, 20).map(([vm, volumes]) => `${vm} (${volumes.join(', ')})`),
      remedy: [otherwise],
    },
  ]
}
