import { ApiError, type Details } from '../errors.ts'
import { type Failure, notKubernetes } from './failure.ts'
import type { Ref } from '../cluster.ts'
import { type Kind, resourceOf } from '../object.ts'

/** The failure as it is told: what was tried on which object, why it failed, what helps. */
export function apiError(failure: Failure, subject: Subject, to: Addressee): ApiError {
  const { status, statusReason, message, namesObject } = failure
  const object = inWords(subject)
  const told: Telling = (text, more = {}, [code, reason] = [status, statusReason]) =>
    new ApiError(code, reason, text, { object, cause: failure.error, ...more })
  const tried = `cannot ${subject.verb} ${object}: ${message}`
  if (isElsewhere(failure)) return elsewhere(failure, subject, { to, told })
  if (status < 400) return silent(failure, subject, { to, told })
  if (status === 401)
    return told(
      `${to.server} does not accept the credentials of ${to.user} (${subject.verb} ${object}): ${message}`,
      { remedy: `log in again, then check with: kubectl${contextFlag(to)} auth whoami` },
    )
  if (status === 403)
    return isRbac(failure)
      ? notAllowed(failure, subject, { to, told })
      : told(tried, gatewayNotes(failure, to))
  if (status === 404 && !namesObject)
    return told(`${to.server} does not serve ${subject.resource}: ${message}`, {}, [404, unserved])
  if (status === 429 || status >= 500) return unable(failure, subject, { to, told, tried })
  return told(tried)
}

type Telling = (text: string, more?: Details, code?: [status: number, reason: string]) => ApiError
interface Teller {
  to: Addressee
  told: Telling
}

const withOutcome = (what: string, isUnsure: boolean): string =>
  isUnsure ? `${what}; the outcome is unknown: the server may have acted on it` : what

/** What callers tell apart by its status, and an API behind the API server may say without a `metav1.Status`; and what a gateway says of itself. */
const kept: ReadonlySet<number> = new Set([401, 409, 410, 422, 429])

/** Whoever answers so says nothing of a cluster: unless an API server is behind it after all. */
export const isElsewhere = ({ status, foreign }: Failure): boolean =>
  foreign === true && status < 500 && !kept.has(status)

/** Its status is not kept: 404 would be taken for "there is none". */
function elsewhere({ message, status }: Failure, subject: Subject, { to, told }: Teller): ApiError {
  const what = `${to.server}${through(to)} does not answer like a Kubernetes API (${subject.verb} ${inWords(subject)}): ${message}`
  const unsure = isWrite(subject) && status < 300
  const remedy = /HTTP request to an HTTPS server/iu.test(message)
    ? ['it needs https: correct the address, or use --server https://HOST:PORT']
    : reachRemedy(to, '/version')
  const code = unsure ? 'OutcomeUnknown' : notKubernetes
  return told(withOutcome(what, unsure), { notes: [origin(to)], remedy }, [0, code])
}

function silent(failure: Failure, subject: Subject, { to, told }: Teller): ApiError {
  const { cause, message } = failure
  const unsure = isWrite(subject) && (cause === 'cut' || cause === 'timeout' || cause === 'other')
  const certificate = /expired|not yet valid/iu.test(message) ? notValidNow : notTrusted
  const remedy = cause === 'certificate' ? certificate : reachRemedy(to)
  const what = withOutcome(noAnswer(failure, subject, to), unsure)
  return told(what, { notes: [origin(to)], remedy }, [0, unsure ? 'OutcomeUnknown' : ''])
}

const noAnswer = ({ message }: Failure, subject: Subject, to: Addressee): string =>
  `no answer from the API server ${to.server}${through(to)} (${subject.verb} ${inWords(subject)}): ${message}`

const notTrusted = [
  'the certificate is not trusted: name its authority with --certificate-authority FILE',
  'or the name that it is for with --tls-server-name NAME',
]
/** Whether it is valid is judged by this machine's clock: no answer has said the cluster's time yet. */
const notValidNow = [
  'date -u     shows the clock of this computer: if it is wrong, a valid certificate looks expired or not yet valid',
]

/** An API server that is out of breath, or that a gateway before it does not reach. */
function unable(
  failure: Failure,
  subject: Subject,
  { to, told, tried }: Teller & { tried: string },
): ApiError {
  const { status, foreign } = failure
  const unsure = isWrite(subject) && (status === 502 || status === 504)
  const notes = foreign
    ? ['this answer is from a gateway before it', origin(to)]
    : [`HTTP ${status}; ${served(to)}`]
  const more = foreign || !isWrite(subject) ? { notes, remedy: reachRemedy(to) } : {}
  return told(withOutcome(foreign ? noAnswer(failure, subject, to) : tried, unsure), more)
}

function gatewayNotes(failure: Failure, to: Addressee): Details {
  const note = 'this answer is from a gateway before the API server, which no Role changes'
  return isWordless(failure) ? { notes: [note, served(to)], remedy: reachRemedy(to) } : {}
}

function notAllowed({ message }: Failure, subject: Subject, { to, told }: Teller): ApiError {
  const who = /User "([^"]+)"/.exec(message)?.[1] ?? to.user
  const where = subject.namespace === undefined ? ' at cluster scope' : ''
  const more = /cannot \w+ (resource|path)/.test(message) ? '' : `: ${message}`
  return told(`${who} may not ${subject.verb} ${inWords(subject)}${where}${more}`, {
    notes: [served(to)],
    remedy: `kvup rbac ${roleWith(subject)} | kubectl${contextFlag(to)} apply -f -     then bind it to this user`,
  })
}

/** The smallest role of kvup that has it: to look at KubeVirt and its VMs none is needed that may change them. */
function roleWith({ resource, verb }: Subject): string {
  if (resource.startsWith('hyperconvergeds.')) return 'kvup-settings'
  const reads = verb === 'get' || verb === 'list' || verb === 'watch'
  return reads && /^(?:kubevirts|virtualmachine\w*)\.kubevirt\.io$/u.test(resource)
    ? 'kvup-view'
    : 'kvup-upgrade'
}

/** An API server says why in words. */
const isWordless = ({ message, status }: Failure): boolean => message.startsWith(`HTTP ${status}`)

/** A gateway, a webhook, a quota and pod security answer 403 as well, and no Role helps against them. */
function isRbac(failure: Failure): boolean {
  const others =
    /admission webhook|denied (the )?request|exceeded quota|violates PodSecurity|is being terminated/
  return !isWordless(failure) && !others.test(failure.message)
}

const isWrite = ({ verb, changesNothing }: Subject): boolean =>
  changesNothing !== true && ['create', 'update', 'patch', 'delete'].includes(verb)

/** Whom we speak to, for messages: addresses without the passwords that they may carry. */
export interface Addressee {
  server: string
  /** The kubeconfig that names this address; undefined for `--server` and inside a pod. */
  file: string | undefined
  context: string | undefined
  user: string
  proxy: string | undefined
}

const through = ({ proxy }: Addressee): string => (proxy === undefined ? '' : ` through the proxy ${proxy}`)

/** `kubectl --context prod`, as far as a context is known. */
const contextFlag = ({ context }: Addressee): string => (context === undefined ? '' : ` --context ${context}`)

/** Where the address comes from, as a note. */
function origin({ server, file, context }: Addressee): string {
  if (file === undefined) return `the address is ${server}`
  return context === undefined
    ? `the address is from ${file}`
    : `the address is that of context ${context} in ${file}`
}

/** Whose answer it was, as a note to a message without an address. */
const served = ({ server, context }: Addressee): string =>
  `the server is ${server}${context === undefined ? '' : `, of context ${context}`}`

/** Where to look when nobody answers at an address, or somebody else. `path`: what a Kubernetes API answers to everybody. */
function reachRemedy(to: Addressee, path: '/readyz' | '/version' = '/readyz'): string[] {
  const address = to.context === undefined ? ` --server ${to.server}` : contextFlag(to)
  return [
    ...(to.proxy === undefined ? [] : ['check proxy-url in the kubeconfig, or HTTPS_PROXY and NO_PROXY']),
    `kubectl${address} get --raw ${path}`,
    'kubectl config get-contexts     then choose one with --context NAME',
  ]
}

/** What a request is about, as RBAC and people name it. */
export interface Subject {
  verb: string
  /** `deployments.apps`, `kubevirts.kubevirt.io/status`, `/version`. */
  resource: string
  namespace?: string | undefined
  name?: string | undefined
  /** It is a POST, and only a question. */
  changesNothing?: true
}

export const subjectOf = (verb: string, kind: Kind, ref: Partial<Ref>, subresource?: string): Subject => ({
  verb,
  resource: resourceOf(kind) + (subresource === undefined ? '' : `/${subresource}`),
  name: ref.name,
  ...(kind.namespaced && ref.namespace !== undefined && { namespace: ref.namespace }),
})

/** `kubevirts.kubevirt.io/kubevirt in namespace kubevirt` */
function inWords({ resource, namespace, name }: Subject): string {
  const what = name === undefined || name === '' ? resource : `${resource}/${name}`
  return namespace === undefined ? what : `${what} in namespace ${namespace}`
}

/** The `statusReason` that an ApiError carries when the server does not know the kind at all. */
const unserved = 'Unserved'

export const isUnserved = ({ status, statusReason }: ApiError): boolean =>
  status === 404 && statusReason === unserved
