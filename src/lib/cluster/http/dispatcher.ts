import {
  type Cluster,
  type DispatcherOptions,
  type KubeConfig,
  HttpMethod,
  RequestContext,
} from '@kubernetes/client-node'
import type { RequestOptions } from 'node:https'
import { getCACertificates } from 'node:tls'
import { Agent, type Dispatcher, ProxyAgent } from 'undici'

/** Longer than the pauses between polls, shorter than what load balancers keep an idle connection. */
const keepAliveTimeout = 20_000
/** Answers may be silent for long (a watch); requests bring their own time limits. */
const patient = { keepAliveTimeout, headersTimeout: 0, bodyTimeout: 0, allowH2: false }

/** The connections to one server. The socks tunnel is client-node's own; the rest keeps connections open longer. */
export async function dispatcherFor(config: KubeConfig, tls: RequestOptions): Promise<Dispatcher> {
  const cluster = config.getCurrentCluster()
  const options = config.createDispatcherOptions(cluster, tlsOnly(trusting(tls)))
  if (options.type === 'proxy') {
    const { uri, requestTls, connect } = options
    return new ProxyAgent({ ...patient, uri, requestTls: compact(requestTls), connect: compact(connect) })
  }
  if (options.type === 'socks') return handedOut(config, cluster)
  return new Agent({ ...patient, connect: compact(connectOf(options)) })
}

function connectOf(options: DispatcherOptions) {
  return options.type === 'agent' ? options.connect : { keepAlive: true, keepAliveInitialDelay: 30_000 }
}

async function handedOut(config: KubeConfig, cluster: Cluster | null): Promise<Dispatcher> {
  const request = new RequestContext(cluster?.server ?? '', HttpMethod.GET)
  await config.applySecurityAuthentication(request)
  return request.getDispatcher() ?? new Agent(patient)
}

/** Where the kubeconfig names no authority, this machine's are trusted, as kubectl does; Node alone asks its own list. */
function trusting(tls: RequestOptions): RequestOptions {
  if (tls.ca !== undefined || tls.rejectUnauthorized === false) return tls
  return { ...tls, ca: [...getCACertificates('default'), ...getCACertificates('system')] }
}

function tlsOnly({ ca, cert, key, servername, rejectUnauthorized }: RequestOptions) {
  return compact({ ca, cert, key, servername, rejectUnauthorized })
}

type Given<T> = { [K in keyof T]?: NonNullable<T[K]> }

function compact<T extends object>(options: T): Given<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Given<T>
}
