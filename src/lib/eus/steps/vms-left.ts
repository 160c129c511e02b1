import type { Reader } from '../../cluster/cluster.ts'
import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import { VirtualMachineInstances } from '../../cluster/kinds/virtual-machines.ts'
import { outdatedOnes } from '../../facts/workload-count.ts'
import type { ReadContext, Step, StepState } from '../../procedure/step.ts'
import { evictionFinding, forecastOutdated } from '../../workloads/eviction-finding.ts'
import { readOwner } from '../../workloads/find-owner.ts'
import { forecastText } from '../../workloads/forecast.ts'
import { loanOn } from '../../workloads/loan-on.ts'
import type { SettingsOwner } from '../../workloads/strategy/owner.ts'
import { keptMethods } from '../../workloads/update-methods.ts'
import { vmName } from '../../workloads/vm-name.ts'
import { isNotFound } from '../../system/errors.ts'
import { minutes, seconds } from '../../system/units.ts'
import type { EusRequest } from '../run/window.ts'

/** Ids of the risks that are taken, and the line that takes one more. */
type Taken = Pick<EusRequest, 'accepted' | 'command'>

/** Says what the methods will do to VMs before they are given back (night E12); evictions are accepted by name. */
export function forecastStep(settings: SettingsOwner, { accepted, command }: Taken): Step {
  return {
    id: 'forecast',
    title: 'what becomes of VMs',
    patience: { every: 15 * seconds, atMost: 5 * minutes },
    estimate: 5 * seconds,
    follows: [],
    risk: { undo: 'none', safeToLeave: 'always' },
    async check({ reader, journal }: ReadContext): Promise<StepState> {
      const loan = loanOn(settings, await journal.loans())
      if (loan === undefined) return { is: 'done' }
      const kubevirt: KubeVirt = await readOwner(reader, settings.kubevirt)
      const methods = keptMethods(loan)
      const forecast = await forecastOutdated(reader, kubevirt, methods)
      const [evictions] = evictionFinding(methods, forecast)
      if (evictions === undefined || accepted.includes(evictions.id))
        return { is: 'done', note: `KubeVirt ${forecastText(forecast)}` }
      return {
        is: 'blocked',
        reason: evictions.id,
        by: evictions.summary,
        remedy: [
          `${command} --accept ${evictions.id}     takes that`,
          'kvup workloads forecast     names the VMs',
        ],
      }
    },
  }
}

/** No VM on an old virt-launcher, or a person has said that those may stay. Each is named: the next minor asks for it (ocp 6.3). */
export function noneOutdated(
  { id, title, risk }: { id: string; title: string; risk: 'outdated-launchers' | 'vms-that-stay' },
  { accepted, command }: Taken,
): Step {
  return {
    id,
    title,
    patience: { every: 15 * seconds, atMost: 5 * minutes },
    estimate: 5 * seconds,
    follows: [],
    risk: { undo: 'none', safeToLeave: 'always' },
    async check({ reader }: ReadContext): Promise<StepState> {
      const left = await outdatedVms(reader)
      if (left.length === 0) return { is: 'done' }
      const named = `${left.slice(0, 10).join(', ')}${left.length > 10 ? ', …' : ''}`
      if (accepted.includes(risk)) return { is: 'done', note: `${left.length} stay: ${named}` }
      return {
        is: 'blocked',
        reason: risk,
        by: `${left.length} VMs stay on an old virt-launcher: ${named}`,
        remedy: [
          'kvup workloads outdated     says why each stays',
          'kvup rollout restart     restarts those that only a restart helps',
          `${command} --accept ${risk}     goes on all the same`,
        ],
      }
    },
  }
}

async function outdatedVms(reader: Reader): Promise<readonly string[]> {
  const names: string[] = []
  try {
    for await (const { items } of reader.pages(VirtualMachineInstances, outdatedOnes))
      names.push(...items.filter(({ status }) => status?.phase === 'Running').map(vmName))
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return names
}
