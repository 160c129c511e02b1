import type { VirtualMachineInstance } from '../../cluster/kinds/virtual-machines.ts'
import { condition } from '../../cluster/object.ts'
import type { Machine } from '../outdated/behind.ts'
import { type Outlook, outlookOf } from '../outdated/outlook.ts'
import { reason, type Reason } from '../outdated/reasons.ts'
import type { OutlookRules } from '../outdated/rules.ts'
import { domainOf } from './launcher-resources.ts'
import { type ForecastItem, plainItem } from './forecast-item.ts'
import { policyFor } from './migration-policy.ts'
import { migrationSpan, type MigrationSpeed, speedBy } from './migration-time.ts'
import {
  type Beside,
  failsEveryTime,
  type Obstacle,
  obstacleToEviction,
  obstacleToMigration,
  obstacleToReturn,
} from './obstacles.ts'
import type { Room } from './room.ts'

/** What every VM is judged by. */
export interface Judging {
  rules: OutlookRules
  room: Room
  speed: MigrationSpeed
}

/** One VMI: what the methods make of it (facts 3.5), and whether what they would do can be done. Throws ApiError. */
export async function judge(
  vmi: VirtualMachineInstance,
  vm: Machine | undefined,
  judging: Judging,
  beside: Beside,
): Promise<ForecastItem> {
  const outlook = outlookOf(vmi, vm, judging.rules)
  const { fate, why, loses, remedy } = await hindered(vmi, outlook, judging.room, beside)
  const item: ForecastItem = {
    ...plainItem(vmi),
    will: fate,
    why: [...why, ...asides(vmi, fate)],
    loses,
    remedy,
  }
  if (fate !== 'migrates') return item
  return {
    ...item,
    seconds: migrationSpan(vmi, speedBy(policyFor(vmi, judging.room.policies), judging.speed)),
  }
}

async function hindered(
  vmi: VirtualMachineInstance,
  outlook: Outlook,
  room: Room,
  beside: Beside,
): Promise<Outlook> {
  const { fate, why } = outlook
  if (fate === 'stays') return outlook
  if (why[0]?.id === 'migrating') return staysFor(outlook, failsEveryTime(vmi, beside))
  if (fate === 'migrates') return staysFor(outlook, await obstacleToMigration(vmi, room, beside))
  const forbidden = obstacleToEviction(vmi, room)
  if (forbidden !== undefined || fate !== 'restarts') return staysFor(outlook, forbidden)
  const gone = await obstacleToReturn(vmi, room)
  return gone === undefined
    ? outlook
    : { ...outlook, fate: 'shuts down', why: [...why, gone.why], remedy: gone.remedy }
}

function staysFor(outlook: Outlook, obstacle: Obstacle | undefined): Outlook {
  if (obstacle === undefined) return outlook
  const [decided, ...rest] = outlook.why
  const kept = rest.filter(({ id }) => id === 'old-launcher' || id === 'no-way-back')
  return {
    fate: 'stays',
    why: [obstacle.why, ...(decided ? [decided] : []), ...kept],
    loses: outlook.loses,
    remedy: obstacle.remedy,
  }
}

const changes = ['HotVCPUChange', 'HotMemoryChange', 'VolumesChange', 'MigrationRequired']
/** Names of migration pods and labels made of longer ones may be refused. */
const nameAtMost = 47

/** What has to be known besides, and decides nothing. */
function asides(vmi: VirtualMachineInstance, fate: Outlook['fate']): readonly Reason[] {
  const moves = fate === 'migrates'
  const pending = changes.find((type) => condition(vmi, type)?.status === 'True')
  const restart = condition(vmi, 'RestartRequired')?.status === 'True'
  const long = moves && vmi.metadata.name.length > nameAtMost
  return [
    ...(pending
      ? [reason('pending-change', `${pending} waits for ${moves ? 'this migration' : 'a migration'}`)]
      : []),
    ...(restart ? [reason('restart-required', 'a change of it waits for a restart')] : []),
    ...(long
      ? [
          reason(
            'long-name',
            `its name is longer than ${nameAtMost} characters: labels made of it may be refused`,
          ),
        ]
      : []),
    ...(moves && domainOf(vmi).cpu?.dedicatedCpuPlacement
      ? [reason('dedicated-cpus', 'needs as many free dedicated CPUs on the other node')]
      : []),
  ]
}
