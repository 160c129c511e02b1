import type { Cluster } from '../cluster/cluster.ts'
import { ValidatingWebhooks } from '../cluster/kinds/extension.ts'
import { VirtualMachines } from '../cluster/kinds/virtual-machines.ts'
import type { Doubt } from '../facts/doubts.ts'
import { countWorkloads } from '../facts/workload-count.ts'
import type { HopFinding } from '../releases/finding.ts'
import { ApiError } from '../system/errors.ts'
import { readOwner } from '../workloads/find-owner.ts'
import type { ReadContext } from '../procedure/step.ts'
import { countUnlabelled } from '../workloads/unlabelled.ts'
import { forecastText } from '../workloads/forecast.ts'
import { methodsOf, openLoan } from '../workloads/update-methods.ts'
import type { JournalReader } from '../procedure/step.ts'
import { look } from './look.ts'
import type { UpgradePlan } from './plan.ts'
import { controllerDoubt } from './steps/new-controller-leads.ts'
import type { UpgradeReport, WorkloadReport } from './report.ts'
import { forecastOutdated } from '../workloads/eviction-finding.ts'

/** How many VMs are outdated now, and what will happen to them. */
export async function workloadsAfter(
  { reader }: Cluster,
  { owner, olm }: Pick<UpgradePlan, 'owner' | 'olm'>,
  journal: JournalReader,
): Promise<WorkloadReport> {
  const kubevirt = await readOwner(reader, owner)
  const [count, forecast, loans] = await Promise.all([
    countWorkloads(reader),
    forecastOutdated(reader, kubevirt, methodsOf(kubevirt)),
    journal.loans(),
  ])
  return {
    ...count,
    forecast: forecastText(forecast),
    held: openLoan(loans, olm?.hyperconverged.uid ?? owner.uid) !== undefined,
  }
}

/** Does the new KubeVirt take a VM? Asked of its webhooks by a server-side dry run, in KubeVirt's namespace (night U6). */
export async function tryVmCreation(
  { reviewer }: Cluster,
  namespace: string,
): Promise<NonNullable<UpgradeReport['vmCreation']>> {
  const vm = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name: 'kvup-dry-run', namespace },
    spec: {
      runStrategy: 'Halted',
      template: { spec: { domain: { devices: {}, memory: { guest: '64Mi' } } } },
    },
  }
  try {
    await reviewer.rehearsal.create(VirtualMachines, vm)
    return { is: 'accepted' }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return isOurs(error) ? { is: 'not-allowed' } : { is: 'refused', why: error.message }
  }
}

/** RBAC says no to us, with the role that would help; a quota's or a webhook's 403 is a refusal like any other. */
function isOurs({ status, remedy }: ApiError): boolean {
  return status === 404 || (status === 403 && remedy.length > 0)
}

/** Webhooks that block new APIs while virt-api is old; left behind, they go on blocking (night U5). */
export async function leftoverWebhooks({ reader }: Cluster): Promise<readonly HopFinding[]> {
  try {
    const left = (await reader.list(ValidatingWebhooks)).filter(({ metadata }) =>
      metadata.name.startsWith('virt-operator-tmp-webhook'),
    )
    return left.map(({ metadata }) => ({
      id: 'tmp-webhook-left',
      level: 'warning',
      summary: `${metadata.name} was left behind and goes on refusing new APIs`,
      remedy: [`kubectl delete validatingwebhookconfiguration ${metadata.name}`],
    }))
  } catch (error) {
    if (error instanceof ApiError) return []
    throw error
  }
}

/** What kvup still expects and does not see once it is done: each a warning of the report. None where it is not settled, for that is said otherwise. */
export async function doubtsLeft(
  cx: ReadContext,
  { owner }: Pick<UpgradePlan, 'owner'>,
): Promise<readonly HopFinding[]> {
  const { standing, snapshot } = await look(cx, owner)
  if (standing.verdict !== 'Settled') return []
  const controller = await controllerDoubt(snapshot, () => countUnlabelled(cx.reader, snapshot))
  return [...standing.doubts, ...(controller ? [controller] : [])].map(warningOf)
}

const warningOf = ({ id, sentence, look: remedy }: Doubt): HopFinding => ({
  id,
  level: 'warning',
  summary: sentence,
  remedy,
})
