import {
  ClusterOperators,
  type MachineConfigPool,
  MachineConfigPools,
} from '../../../cluster/kinds/openshift.ts'
import { condition } from '../../../cluster/object.ts'
import { control } from '../../machinery/controller.ts'
import { type Claim, isTrue, withConditions } from '../conditions.ts'
import { type PlatformContext, seconds, writeStatus } from '../platform-context.ts'
import { isRequired } from './masters.ts'

const name = 'machine-config'
const unwell = 'RequiredPoolsFailed'

/** What the operator of machines says of pools (ocp 3.5): degraded ones, and masters that are paused while an update needs them. */
export function runMachineConfigStatus(cx: PlatformContext): Promise<void> {
  const watched = [{ kind: MachineConfigPools }, { kind: ClusterOperators, where: { name } }]
  return control(cx, watched, async () => {
    const found = await cx.reader.find(ClusterOperators, { name })
    if (found.is !== 'object' || !found.object.status) return undefined
    const operator = found.object
    const { status = {} } = operator
    const pools = await cx.reader.list(MachineConfigPools)
    const claims = [
      ...degradedClaims(pools, { updating: isTrue(status.conditions, 'Progressing'), operator }),
      ...upgradeableClaims(cx, pools),
    ]
    const conditions = withConditions(status.conditions ?? [], claims, seconds(cx))
    await writeStatus(cx, ClusterOperators, operator, { ...status, conditions })
    return undefined
  })
}

type Seen = { updating: boolean; operator: Parameters<typeof condition>[0] }

/** Others may have their own reasons for Degraded. */
function degradedClaims(pools: readonly MachineConfigPool[], { updating, operator }: Seen): Claim[] {
  const why = failure(pools, updating)
  const type = 'Degraded'
  if (why !== undefined)
    return [
      {
        type,
        status: 'True',
        reason: unwell,
        message: `error during syncRequiredMachineConfigPools: ${why}`,
      },
    ]
  if (condition(operator, type)?.reason !== unwell) return []
  return [{ type, status: 'False', reason: 'AsExpected', message: '' }]
}

function failure(pools: readonly MachineConfigPool[], updating: boolean): string | undefined {
  const degraded = pools.find(({ status }) => isTrue(status?.conditions, 'Degraded'))
  if (degraded) {
    const { machineCount, readyMachineCount, updatedMachineCount, unavailableMachineCount } =
      degraded.status ?? {}
    const counts = `total: ${machineCount}, ready ${readyMachineCount}, updated: ${updatedMachineCount}, unavailable: ${unavailableMachineCount}`
    return `MachineConfigPool ${degraded.metadata.name} is not ready, retrying. Status: (pool degraded: true ${counts})`
  }
  const paused = pools.find((pool) => isRequired(pool) && pool.spec?.paused === true)
  if (!paused || !updating) return undefined
  const which = paused.metadata.name
  return isTrue(paused.status?.conditions, 'Updated')
    ? `the required MachineConfigPool ${which} was paused with no pending updates; no further syncing will occur until it is unpaused`
    : `required MachineConfigPool ${which} is paused and cannot sync until it is unpaused`
}

function upgradeableClaims({ faults }: PlatformContext, pools: readonly MachineConfigPool[]): Claim[] {
  if (faults.on.notUpgradeable?.some(({ operator }) => operator === name) === true) return []
  const type = 'Upgradeable'
  const message =
    'One or more machine config pools are degraded, please see `oc get mcp` for further details and resolve before upgrading'
  return pools.some(({ status }) => isTrue(status?.conditions, 'Degraded'))
    ? [{ type, status: 'False', reason: 'DegradedPool', message }]
    : [{ type, status: 'True', reason: 'AsExpected', message: '' }]
}
