import type { Reader, SingleAsk } from '../kube/cluster.ts'
import { VirtualMachineInstances, VirtualMachines } from '../kube/kinds/kubevirt-kinds.ts'
import { ApiError, exitCode, KvupError, unreachable, usageError } from '../kube/errors.ts'
import type { Kind, KubeObject } from '../kube/object.ts'

/** The questions to the API, in the order in which they are told. `api` is down while any of them is. */
export const apiProbes = ['create', 'list', 'get', 'subresource', 'discovery'] as const
type ApiProbe = (typeof apiProbes)[number]

/** Probes whose unavailability is told, and that a rule may name. */
export const probeNames = ['api', ...apiProbes, 'tcp'] as const
export type ProbeName = (typeof probeNames)[number]

/** How a call ended. A `refused` call says nothing of availability: its probe ends. */
export type Answered =
  | { is: 'answered' }
  | { is: 'unavailable'; why: string }
  | { is: 'refused'; why: string }

/** Something that is asked once a second. */
export interface Probe {
  name: ProbeName
  /** What is asked, for people. */
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
  /** Where a VM is created as a dry run. */
  namespace: string
  /** A VMI that runs, if there is one. */
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
  const why = error instanceof Error ? error.message : String(error)
  if (!(error instanceof KvupError)) return { is: 'refused', why }
  const { status } = error instanceof ApiError ? error : { status: 0 }
  if (status === 429) return { is: 'unavailable', why }
  return { is: error.exitCode === exitCode.unreachable ? 'unavailable' : 'refused', why }
}

/** What `--tcp` names: a DNS name that is asked here, or a Service. */
export interface TcpTarget {
  /** As it was typed. */
  text: string
  host: string
  port: number
  /** `host` is the name of a Service in this namespace. */
  namespace?: string
}

/** `www.example.com:443`, or `NAMESPACE/SERVICE:PORT`. Throws `usage`. */
export function parseTcpTarget(typed: string): TcpTarget {
  const form =
    /^(?:(?<namespace>[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)\/)?(?<host>[A-Za-z0-9](?:[-.A-Za-z0-9]{0,251}[A-Za-z0-9])?):(?<port>\d{1,5})$/u
  const { namespace, host = '', port = '0' } = form.exec(typed)?.groups ?? {}
  const number = Number(port)
  if (host === '' || number < 1 || number > 65_535)
    throw usageError('not-an-address', `--tcp ${JSON.stringify(typed)} is not NAME:PORT`, {
      remedy: 'name a DNS name or a Service: --tcp www.example.com:443, --tcp NAMESPACE/SERVICE:PORT',
    })
  return { text: typed, host, port: number, ...(namespace !== undefined && { namespace }) }
}

interface Service extends KubeObject {
  spec?: { clusterIP?: string; type?: string }
  status?: { loadBalancer?: { ingress?: { ip?: string; hostname?: string }[] } }
}
const Services: Kind<Service> = { apiVersion: 'v1', kind: 'Service', plural: 'services', namespaced: true }

/** Opens a TCP connection and closes it. Rejects with why it could not, after `ms` at the latest. */
export type Connect = (address: { host: string; port: number }, ms: number) => Promise<void>

/** The address of a Service is its load balancer's, or else its own in the cluster. It is read once. Throws `usage` where there is none. */
export async function probeOfTcp(
  target: TcpTarget,
  { reader, connect }: { reader: Reader; connect: Connect },
): Promise<Probe> {
  const host =
    target.namespace === undefined
      ? target.host
      : await addressOf(reader, { ...target, namespace: target.namespace })
  if (target.namespace === undefined) await ensureKnown(target, connect)
  return {
    name: 'tcp',
    what: target.text,
    ask: () =>
      connect({ host, port: target.port }, patience).catch((error: unknown) => {
        throw unreachable('tcp', error instanceof Error ? error.message : String(error))
      }),
  }
}

/** A name that nobody knows is mistyped; one that does not answer is measured. */
async function ensureKnown({ host, port, text }: TcpTarget, connect: Connect): Promise<void> {
  const isUnknown = await connect({ host, port }, patience).then(
    () => false,
    (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOTFOUND',
  )
  if (!isUnknown) return
  throw usageError('no-address', `--tcp ${text}: the name ${host} is not known here`, {
    remedy: 'name a DNS name that is known here, or a Service: --tcp NAMESPACE/SERVICE:PORT',
  })
}

async function addressOf(
  reader: Reader,
  { host: name, namespace, text }: TcpTarget & { namespace: string },
): Promise<string> {
  const found = await reader.get(Services, { name, namespace })
  const { spec, status } = found.is === 'object' ? found.object : {}
  const [balancer] = status?.loadBalancer?.ingress ?? []
  const own = spec?.clusterIP === 'None' ? undefined : spec?.clusterIP
  const address = balancer?.hostname ?? balancer?.ip ?? own
  if (address !== undefined && address !== '') return address
  throw usageError(
    'no-address',
    `--tcp ${text}: ${found.is === 'object' ? `Service ${name} has no address` : `there is no Service ${name} in namespace ${namespace}`}`,
    {
      remedy: `kubectl -n ${namespace} get services`,
    },
  )
}
