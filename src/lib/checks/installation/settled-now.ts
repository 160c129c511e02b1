import type { Standing } from '../../facts/standing.ts'
import type { Check } from '../check.ts'

/** Two changes at a time leave three versions side by side. */
export const settledNow: Check = {
  id: 'settled-now',
  group: 'installation',
  title: 'KubeVirt is settled now',
  runbook: 'VirtOperatorDown',
  needs: ['deployments', 'daemonsets', 'pods', 'leases'],
  blocks: true,
  assess({ standing, target, installation }) {
    if (standing.verdict === 'Settled') return []
    const joined = standing.verdict === 'Updating' && standing.target.version === target?.text
    return [
      {
        id: 'settled-now',
        level: joined ? 'info' : 'blocker',
        summary: joined
          ? `an update to ${target?.text} is under way already: it would be joined`
          : `KubeVirt is ${standing.verdict}: ${reason(standing)}`,
        objects: [`kubevirt/${installation.name}`],
        remedy: ['kvup status -w', ...standing.why.flatMap(({ look }) => look.slice(0, 1))],
      },
    ]
  },
}

function reason({ why, waitingFor }: Standing): string {
  const said = why.map(({ sentence }) => sentence).join('; ')
  return said || `waiting for ${waitingFor ?? 'virt-operator'}`
}
