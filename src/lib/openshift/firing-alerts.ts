import { parseJson } from '../kube/object.ts'
import { someOf } from '../kube/text.ts'
import { proxiedName, type Reader, type ServiceCall } from '../kube/cluster.ts'
import { ApiError, KvupError } from '../kube/errors.ts'
import { itemsOf, type Known, known, notAsked } from '../kube/known.ts'
import { ConfigMaps } from '../kube/kinds/core-kinds.ts'
import { Ingresses, type Route, Routes } from '../kube/kinds/openshift-kinds.ts'
import { isSaved } from '../kube/saved/saved-cluster.ts'

/** What fired at a look, in words; or why nobody knows. */
export type Fired = { firing: readonly string[] } | { why: string }

/** What fires since; or why that cannot be told, and what to type. */
export type NewAlerts = { new: readonly string[] } | { notCompared: string }

export async function firedNow(reader: Reader): Promise<Fired> {
  const alerts = await firingAlerts(reader)
  return alerts.known ? { firing: allWords(alerts.items) } : { why: alerts.why }
}

/** The same where there is a platform whose Prometheus could be asked; undefined on any other cluster. Throws ApiError. */
export async function firedOnPlatform(reader: Reader): Promise<Fired | undefined> {
  const served = await reader.versions('config.openshift.io')
  return served.length === 0 ? undefined : firedNow(reader)
}

/** Alerts that fire now and did not at that look (night E11). */
export async function newAlerts(reader: Reader, before: Fired): Promise<NewAlerts> {
  if ('why' in before) return { notCompared: before.why }
  const now = await firedNow(reader)
  if ('why' in now) return { notCompared: now.why }
  return { new: now.firing.filter((one) => !before.firing.includes(one)) }
}

/** An alert that fires, by its labels: somebody else's words. */
export interface FiringAlert {
  name: string
  severity: string
  namespace?: string
  /** RFC 3339: since when its condition holds, which is some time before it fires. */
  since?: string
  /** Who wrote it says that it is to be looked into before an update. */
  beforeUpdates?: true
  /** Where its own project wrote down what to do. */
  runbook?: string
}

/** It puts together what both Prometheus of the platform and that of users say, and is what `oc adm upgrade` asks by its Route. */
const question: ServiceCall = {
  service: { namespace: 'openshift-monitoring', name: 'thanos-querier' },
  scheme: 'https',
  port: 'web',
  path: '/api/v1/alerts',
}

/** What `services/proxy` has to be allowed for. */
export const alertsProxy = proxiedName(question)

/** What a person with `pods/exec` types, past the proxy that asks for a token. */
export const askAlerts =
  'oc -n openshift-monitoring exec -c prometheus prometheus-k8s-0 -- curl -s http://localhost:9090/api/v1/alerts'

/** Fires for ever, to show that alerts come through. */
const heartbeat = 'none'

/**
 * What fires now, pending ones apart; one GET through the API server, which is sent no token for anybody else. Whatever becomes of it is an unknown part, with
 * why and what to type: no command fails for it.
 */
export async function firingAlerts(reader: Pick<Reader, 'askService'>): Promise<Known<FiringAlert>> {
  if (reader.askService === undefined) return { known: false, why: 'a saved cluster does not contain alerts' }
  try {
    return alertsIn(await reader.askService(question))
  } catch (error) {
    if (!(error instanceof KvupError)) throw error
    return unasked(reasonOf(error))
  }
}

/** The Route that `oc adm upgrade` asks, and no other. */
const route = { namespace: 'openshift-monitoring', name: 'thanos-querier' } as const
/** Who vouches for what is below the cluster's ingress domain. */
const ingressAuthority = { namespace: 'openshift-config-managed', name: 'default-ingress-cert' } as const

/**
 * What fires now, asked by the Route with this user's token. The Route has to lead to its own Service alone, at a host below the cluster's own ingress domain that a router gave to it: any tenant has hosts
 * there, with the same certificate. Who is not verified is sent nothing. Whatever becomes of it is an unknown part, with why and what to type.
 */
export async function alertsByRoute(reader: Reader): Promise<Known<FiringAlert>> {
  if (reader.askRoute === undefined) return { known: false, why: 'a saved cluster does not contain alerts' }
  try {
    const host = await hostOfRoute(reader)
    if ('why' in host) return unasked(host.why)
    const authorities = await authoritiesOf(reader)
    const answer = await reader.askRoute({ host: host.name, path: question.path, authorities })
    return 'why' in answer ? unasked(answer.why) : alertsIn(answer.text)
  } catch (error) {
    if (!(error instanceof KvupError)) throw error
    return unasked(error.message)
  }
}

const hostName = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/u

async function hostOfRoute(reader: Reader): Promise<{ name: string } | { why: string }> {
  const [ingress, found] = await Promise.all([
    reader.get(Ingresses, { name: 'cluster' }),
    reader.get(Routes, route),
  ])
  const domain = ingress.is === 'object' ? ingress.object.spec?.domain : undefined
  const asked = found.is === 'object' ? found.object : undefined
  const host = asked?.spec?.host
  if (asked === undefined || host === undefined)
    return { why: `there is no Route ${route.namespace}/${route.name}` }
  if (!domain) return { why: 'the cluster names no ingress domain' }
  const isOwn = hostName.test(host) && host.endsWith(`.${domain}`)
  if (!isOwn) return { why: `Route ${route.name} is not below the cluster's own domain ${domain}` }
  if (!leadsToOwn(asked)) return { why: `Route ${route.name} does not lead to Service ${route.name} alone` }
  return isAdmitted(asked, host)
    ? { name: host }
    : { why: `no router has admitted ${host} to Route ${route.name}: another host may answer there` }
}

const leadsToOwn = ({ spec }: Route): boolean =>
  (spec?.to?.kind ?? 'Service') === 'Service' &&
  spec?.to?.name === route.name &&
  (spec.alternateBackends ?? []).length === 0

/** A host belongs to the Route that had it first; of any other the routers say that it is not admitted. */
const isAdmitted = ({ status }: Route, host: string): boolean =>
  (status?.ingress ?? []).some(
    (one) =>
      one.host === host &&
      one.conditions?.some(({ type, status: is }) => type === 'Admitted' && is === 'True'),
  )

/** None where it may not be read: the other authorities may do. */
async function authoritiesOf(reader: Reader): Promise<readonly string[]> {
  const found = await known(
    reader
      .get(ConfigMaps, ingressAuthority)
      .then((answer) => (answer.is === 'object' ? [answer.object] : [])),
  )
  return itemsOf(found).flatMap(({ data }) => data?.['ca-bundle.crt'] ?? [])
}

/** What the files of a saved cluster hold of alerts; a live one is not asked here. */
export async function savedAlerts(reader: Pick<Reader, 'askService'>): Promise<Known<FiringAlert>> {
  return isSaved(reader) && reader.askService !== undefined ? firingAlerts(reader) : notAsked
}

const byRoute = 'kvup check --alerts=route asks by the Route'

/** `--alerts=route` is offered only where its Route is there. */
async function hasRoute(reader: Reader): Promise<boolean> {
  if (reader.askRoute === undefined) return false
  const found = await known(reader.get(Routes, route).then((answer) => [answer]))
  return itemsOf(found).some(({ is }) => is === 'object')
}

/** Alerts that the API server does not let through, with the flag that asks elsewhere. */
export async function offeringRoute(reader: Reader, why: string): Promise<Known<never>> {
  return { known: false, why: (await hasRoute(reader)) ? `${why}; ${byRoute}` : why }
}

/** Of a platform that is busy, where no flag says that this user's token may be sent. */
export async function alertsUnasked(reader: Reader): Promise<Known<never>> {
  return (await hasRoute(reader))
    ? { known: false, why: 'kvup status --alerts=route asks Prometheus, and sends it your token' }
    : unasked(`there is no Route ${route.namespace}/${route.name}`)
}

/** Why alerts are not known, without the lines that show them; and whether the flag was among these. */
export const withoutOffers = (why: string): { why: string; byRoute: boolean } => ({
  why: why.replace(`; ${byRoute}`, '').replace(`; ${askAlerts} shows them`, ''),
  byRoute: why.endsWith(byRoute),
})

const unasked = (why: string): Known<never> => ({ known: false, why: `${why}; ${askAlerts} shows them` })

/** An API server says why in a Status; the proxy in front of Prometheus is nobody that has one. */
function reasonOf(error: KvupError): string {
  if (!(error instanceof ApiError)) return error.message
  const { status, statusReason, message } = error
  const isGuard = status === 401 || (status === 403 && statusReason !== 'Forbidden')
  if (isGuard)
    return `the proxy in front of Prometheus answers ${status}: it needs a token, which the API server does not forward`
  if (status === 404)
    return `Service ${question.service.name} in namespace ${question.service.namespace} is not there`
  return message
}

function alertsIn(text: string): Known<FiringAlert> {
  if (/^\s*</u.test(text)) return unasked('the Route answered HTML')
  const alerts = at(at(parseJson(text), 'data'), 'alerts')
  if (!Array.isArray(alerts)) return unasked('Prometheus did not answer with alerts')
  const firing = alerts.filter((one: unknown) => at(one, 'state') === 'firing').map(alertOf)
  return { known: true, items: firing.filter(({ severity }) => severity !== heartbeat) }
}

function alertOf(one: unknown): FiringAlert {
  const labels = at(one, 'labels')
  const namespace = at(labels, 'namespace')
  const since = at(one, 'activeAt')
  const runbook = at(at(one, 'annotations'), 'runbook_url')
  return {
    name: short(at(labels, 'alertname')),
    severity: short(at(labels, 'severity')),
    ...(typeof namespace === 'string' && { namespace: short(namespace) }),
    ...(typeof since === 'string' && isTime.test(since) && { since: short(since) }),
    ...(at(labels, 'openShiftUpdatePrecheck') === 'true' && { beforeUpdates: true }),
    ...(typeof runbook === 'string' && isRunbook.test(runbook) && { runbook }),
  }
}

const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/u

/** Of the platform's and KubeVirt's own projects: anybody can write an alert, and a page of anybody is no advice. */
const isRunbook = /^https:\/\/github\.com\/(?:openshift|kubevirt)\/[\w./-]{1,200}$/u

/** Some of them are templates gone wrong. */
const longest = 80

const short = (value: unknown): string => (typeof value === 'string' ? value.slice(0, longest) : '')

const at = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined

/** By design, while VMs keep their launcher for more than a day (ocp 1.10). */
const expectedWhilePaused = new Set(['OutdatedVirtualMachineInstanceWorkloads'])

/** Those that `oc adm upgrade recommend` stops at, critical or not (ocp 4). */
const aboutVms = new Set(['VirtHandlerDaemonSetRolloutFailing', 'VMCannotBeEvicted'])

export const isExpected = (name: string): boolean => expectedWhilePaused.has(name)

/** They slow drains, or the pods that come back after one; `oc adm upgrade recommend` stops at them as well. */
const aboutDrains = new Set([
  ...aboutVms,
  'PodDisruptionBudgetAtLimit',
  'PodDisruptionBudgetLimit',
  'KubeContainerWaiting',
  'KubeletHealthState',
  'KubeNodeNotReady',
  'KubeNodeReadinessFlapping',
  'KubeNodeUnreachable',
])

/** It affects an update, however it is graded, and also if it fired before. */
export const affectsUpdates = ({ name, beforeUpdates }: FiringAlert): boolean =>
  aboutDrains.has(name) || beforeUpdates === true

/** Worth naming before nodes are drained. */
export const isGrave = ({ name, severity, beforeUpdates }: FiringAlert): boolean =>
  severity === 'critical' || aboutVms.has(name) || beforeUpdates === true

/** `KubeNodeNotReady`, `TargetDown in namespace x`: what tells one from another, without counting pods. */
function alertWords({ name, namespace }: FiringAlert): string {
  return namespace === undefined ? name : `${name} in namespace ${namespace}`
}

/** Each once, in order. */
export const allWords = (alerts: readonly FiringAlert[]): readonly string[] =>
  [...new Set(alerts.map(alertWords))].toSorted()

/** The same with how grave each is. */
const graded = (alerts: readonly FiringAlert[]): readonly string[] =>
  alerts
    .map((alert) => `${alertWords(alert)}${alert.severity === 'critical' ? ' (critical)' : ''}`)
    .toSorted()

/** For one line: how many, and the names of what is grave, then of the others; what belongs to an EUS upgrade is said to. */
export function alertsLine(alerts: readonly FiringAlert[], inWindow: boolean): string {
  if (alerts.length === 0) return 'none is firing'
  const isPart = ({ name }: FiringAlert) => inWindow && isExpected(name)
  const others = alerts.filter((one) => !isGrave(one) && !isPart(one))
  const named = [...new Set([...graded(alerts.filter(isGrave)), ...graded(others)])]
  const expected = allWords(alerts.filter(isPart))
  return [
    `${alerts.length} firing${named.length > 0 ? `: ${someOf(named)}` : ''}`,
    ...(expected.length > 0 ? [`expected during an EUS upgrade: ${expected.join(', ')}`] : []),
  ].join('; ')
}
