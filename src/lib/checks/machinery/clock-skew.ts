import { clockSkew as inWords } from '../../system/clock-skew.ts'
import type { Check } from '../check.ts'

/**
 * Made only of a live cluster from which this machine's clock differs: of a saved one nobody knows it. Nothing is judged by the wrong clock,
 * for times are the cluster's already; what else runs on this machine knows nothing of that.
 */
export const clockSkew: Check = {
  id: 'clock-skew',
  group: 'machinery',
  title: "this machine's clock is the cluster's",
  needs: [],
  blocks: false,
  assess: ({ ahead = 0 }) =>
    ahead === 0
      ? []
      : [
          {
            id: 'clock-skew',
            level: 'warning',
            summary: inWords(ahead),
            objects: [],
            remedy: ['timedatectl set-ntp true     lets the network set the clock of a machine with systemd'],
          },
        ],
}
