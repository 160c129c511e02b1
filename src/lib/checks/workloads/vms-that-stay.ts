import type { InstanceTally } from '../../facts/instance-tally.ts'
import type { Check } from '../check.ts'
import { counted } from '../../system/counted.ts'
import { isHeldByKvup } from '../held-by-kvup.ts'
import { someOf } from '../../system/some-of.ts'
import { instancesOf } from './instances-of.ts'

/** Facts 3.5, 3.6. What Evict does to a VM depends on its own evictionStrategy (facts 3.4): that is the finding `evictions`. */
export const vmsThatStay: Check = {
  id: 'vms-that-stay',
  group: 'workloads',
  title: 'every running VM can follow to the new virt-launcher by itself',
  needs: ['instances'],
  runbook: 'OutdatedVirtualMachineInstanceWorkloads',
  blocks: false,
  assess(question) {
    const { installation, evidence } = question
    const tally = instancesOf(question)
    const methods = installation.workloadUpdateMethods
    const isOff = methods.length === 0 && !isHeldByKvup(evidence)
    const summary = whyTheyStay(tally, methods, isOff)
    if (summary === undefined) return []
    const { namespace, name } = installation
    return [
      {
        id: 'vms-that-stay',
        level: 'warning',
        summary,
        objects: tally.notMigratable.names,
        remedy: isOff
          ? [`kubectl -n ${namespace} get kubevirt ${name} -o jsonpath='{.spec.workloadUpdateStrategy}'`]
          : [
              `kubectl get virtualmachineinstances -A -o custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,WHY:'.status.conditions[?(@.type=="LiveMigratable")].reason'`,
            ],
      },
    ]
  },
}

function whyTheyStay(
  { running, notMigratable }: InstanceTally,
  methods: readonly string[],
  isOff: boolean,
): string | undefined {
  if (running > 0 && isOff)
    return `workloadUpdateMethods is empty: ${counted(running, 'running VM', ['keeps', 'keep'])} the old virt-launcher`
  if (notMigratable.count === 0) return undefined
  const who = `${counted(notMigratable.count, 'running VM')} cannot be migrated: ${someOf(notMigratable.names, notMigratable.count)}`
  return methods.includes('Evict')
    ? `${who}; Evict is on, so each is shut down or stays, by its evictionStrategy`
    : `${who}; they keep the old virt-launcher until they are restarted`
}
