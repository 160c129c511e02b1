import type { HopFinding } from '../../releases/finding.ts'
import { lostData } from '../outdated/lost-data.ts'
import { type MachineRead, refOf } from './read-machine.ts'

/**
 * A VM that may be evicted may lose what it keeps in its pod: that is never agreed to by --yes alone (night W2). `reads`: of those that
 * are to be unblocked.
 */
export function unblockFindings(reads: readonly MachineRead[]): readonly HopFinding[] {
  const losing = reads.flatMap(({ vmi }) => {
    const lost = vmi === undefined ? [] : lostData(vmi)
    if (vmi === undefined || lost.length === 0) return []
    const { namespace, name } = refOf(vmi)
    return [`${namespace}/${name} (${lost.join(', ')})`]
  })
  const [first] = losing
  if (first === undefined) return []
  const names = `${losing.slice(0, 3).join(', ')}${losing.length > 3 ? ', …' : ''}`
  return [
    {
      id: 'data-loss',
      level: 'blocker',
      summary: `once ${losing.length === 1 ? 'it is' : 'they are'} restarted or evicted, what was written to volumes in the pod is gone: ${names}`,
      remedy: ['kvup explain data-loss'],
      objects: losing,
    },
  ]
}
