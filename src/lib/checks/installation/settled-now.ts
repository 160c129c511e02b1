import type { Standing } from '../../facts/standing.ts'
import type { Doubt } from '../../facts/doubts.ts'
import type { Check } from '../check.ts'
import type { Finding } from '../finding.ts'

/** Two changes at a time leave three versions side by side. */
export const settledNow: Check = {
  id: 'settled-now',
  group: 'installation',
  title: 'KubeVirt is settled now',
  runbook: 'VirtOperatorDown',
  needs: ['deployments', 'daemonsets', 'pods', 'leases'],
  blocks: true,
  assess({ standing, target, installation }) {
    if (standing.verdict === 'Settled') return standing.doubts.map(doubted)
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

/** That a further roll of virt-handler may come is how these releases are, and nothing to be mended. */
const doubted = ({ id, sentence, look }: Doubt): Finding => ({
  id: 'settled-now',
  level: id === 'handler-roll-to-come' ? 'info' : 'warning',
  summary: `KubeVirt says that it is done, but: ${sentence}`,
  remedy: [...look],
})

function reason({ why, waitingFor }: Standing): string {
  const said = why.map(({ sentence }) => sentence).join('; ')
  return said || `waiting for ${waitingFor ?? 'virt-operator'}`
}
