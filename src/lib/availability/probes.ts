import type { SingleAsk } from '../kube/cluster.ts'
import { VirtualMachineInstances, VirtualMachines } from '../kube/kinds/kubevirt-kinds.ts'
import { ApiError, exitCode, KvupError, messageOf } from '../kube/errors.ts'

/** The questions to the API, in the order in which they are told. `api` is down while any of them is. */
export const apiProbes = ['create', 'list', 'get', 'subresource', 'discovery'] as const
type ApiProbe = (typeof apiProbes)[number]

/** Of what unavailability is told. */
export type ProbeName = 'api' | ApiProbe

/** How a call ended. A `refused` call says nothing of availability: its probe ends. */
export type Answered =
  | { is: 'answered' }
  | { is: 'unavailable'; why: string }
  | { is: 'refused'; why: string }

/** Something that is asked once a second. */
export interface Probe {
  name: ProbeName
  what: string
  /** Rejects where it got no answer, or a bad one. */
  ask(): Promise<unknown>
}

/** Between two calls of a probe, ms. */
export const period = 1000
/** A call that takes longer counts as no answer, ms. */
export const patience = 2000

/** Where virt-api answers behind the API server. */
const group = 'subresources.kubevirt.io/v1'

interface Asked {
  ask: SingleAsk
  namespace: string
  someVmi: () => { namespace: string; name: string } | undefined
}

/** The probes of KubeVirt's API. Each costs one call. */
export function probesOfApi({ ask, namespace, someVmi }: Asked): readonly Probe[] {
  const asks: Readonly<Record<ApiProbe, Pick<Probe, 'what' | 'ask'>>> = {
    create: {
      what: `dry-run create of a VM in namespace ${namespace}`,
      ask: () => ask.dryRun.create(VirtualMachines, vmIn(namespace)),
    },
    list: {
      what: 'list of VMIs',
      ask: async () => {
        for await (const _ of ask.pages(VirtualMachineInstances, { pageSize: 1 })) return
      },
    },
    get: {
      what: 'get of a VMI',
      ask: async () => {
        // That there is no such VMI is an answer as well.
        const found = await ask.get(VirtualMachineInstances, someVmi() ?? { namespace, name: probedName })
        if (found.is === 'unserved') throw new ApiError(404, 'NotFound', 'VMIs are not served')
      },
    },
    subresource: {
      what: 'version of virt-api, through the aggregated API',
      ask: () => ask.path(`/apis/${group}/version`),
    },
    discovery: { what: 'discovery of the aggregated API', ask: () => ask.path(`/apis/${group}`) },
  }
  return apiProbes.map((name) => ({ name, what: asks[name].what, ask: asks[name].ask }))
}

/** No VM of this name is ever made: it is the one of the dry run. */
const probedName = 'kvup-measure'

/** The name is the server's to make, so that no VM of the namespace is in the way. */
const vmIn = (namespace: string) => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  metadata: { name: '', generateName: `${probedName}-`, namespace },
  spec: {
    runStrategy: 'Halted',
    template: { spec: { domain: { devices: {}, memory: { guest: '64Mi' } } } },
  },
})

/** Transport errors, time-outs, 5xx and 429 (the server has no room for it) are no answer. Every other 4xx is one, and what kvup itself could not do says nothing of the cluster. */
export function outcomeOf(error: unknown): Answered {
  const why = messageOf(error)
  if (!(error instanceof KvupError)) return { is: 'refused', why }
  const { status } = error instanceof ApiError ? error : { status: 0 }
  if (status === 429) return { is: 'unavailable', why }
  return { is: error.exitCode === exitCode.unreachable ? 'unavailable' : 'refused', why }
}
