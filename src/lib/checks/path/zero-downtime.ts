import { compareVersions, versionOf } from '../../releases/version.ts'
import type { Check } from '../check.ts'

const since = { text: 'v0.17.0', major: 0, minor: 17, patch: 0 }

/** Night C8, facts 7. */
export const zeroDowntime: Check = {
  id: 'zero-downtime-since',
  group: 'path',
  title: 'updates without downtime are promised for the installed version',
  needs: ['kubevirts'],
  blocks: true,
  assess({ standing }) {
    const from = versionOf(standing.observed.version)
    if (from === undefined || compareVersions(from, since) >= 0) return []
    return [
      {
        id: 'zero-downtime-since',
        level: 'blocker',
        summary: `${from.text} is installed: nothing older than ${since.text} is promised an update without downtime`,
        remedy: ['plan an outage of every VM, and export them first: kubectl get vm -A -o yaml > vms.yaml'],
      },
    ]
  },
}
