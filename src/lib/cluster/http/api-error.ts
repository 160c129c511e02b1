import { ApiError, type Details } from '../../system/errors.ts'
import type { Failure } from './failure.ts'
import { inWords, type Subject } from './subject.ts'
import { unserved } from './unserved.ts'

/** Whom we speak to, for messages. */
export interface Addressee {
  server: string
  context: string | undefined
  user: string
  proxy: string | undefined
}

/** The failure as it is told: what was tried on which object, why it failed, what helps. */
export function apiError(failure: Failure, subject: Subject, to: Addressee): ApiError {
  const details: Details = { object: inWords(subject), cause: failure.error }
  if (failure.status < 400) return silent(failure, subject, { to, details })
  if (failure.status === 401) return unauthorized(failure, subject, { to, details })
  if (failure.status === 403 && isRbac(failure.message)) return notAllowed(failure, subject, { to, details })
  if (failure.status === 404 && !failure.namesObject) {
    return new ApiError(
      404,
      unserved,
      `${to.server} does not serve ${subject.resource}: ${failure.message}`,
      details,
    )
  }
  const unsure = isWrite(subject) && (failure.status === 502 || failure.status === 504)
  const tried = `cannot ${subject.verb} ${inWords(subject)}: ${failure.message}`
  return new ApiError(
    failure.status,
    failure.statusReason,
    unsure ? `${tried}; ${unknownOutcome}` : tried,
    details,
  )
}

const unknownOutcome = 'the outcome is unknown: the server may have acted on it'

interface Telling {
  to: Addressee
  details: Details
}

function silent(failure: Failure, subject: Subject, { to, details }: Telling): ApiError {
  const through = to.proxy === undefined ? '' : ` through the proxy ${to.proxy}`
  const unsure =
    isWrite(subject) && (failure.cause === 'cut' || failure.cause === 'timeout' || failure.cause === 'other')
  const what = `no answer from the API server ${to.server}${through} (${subject.verb} ${inWords(subject)}): ${failure.message}`
  return new ApiError(0, unsure ? 'OutcomeUnknown' : '', unsure ? `${what}; ${unknownOutcome}` : what, {
    ...details,
    remedy: failure.cause === 'certificate' ? certificateRemedy(failure) : reachRemedy(to),
  })
}

const notTrusted = [
  'the certificate is not trusted: name its authority with --certificate-authority FILE',
  'or the name it is made for with --tls-server-name NAME',
]
/** Whether it is valid is judged by this machine's clock: no answer has said the cluster's time yet. */
const notValidNow = [
  "date -u     shows this machine's clock: to a wrong one a good certificate has expired, or is not valid yet",
]

function certificateRemedy({ message }: Failure): readonly string[] {
  return /expired|not yet valid/iu.test(message) ? notValidNow : notTrusted
}

function reachRemedy({ server, context, proxy }: Addressee): string[] {
  return [
    ...(proxy === undefined ? [] : ['check proxy-url in the kubeconfig, or HTTPS_PROXY and NO_PROXY']),
    `kubectl${context === undefined ? ` --server ${server}` : ` --context ${context}`} get --raw /readyz`,
    'kubectl config get-contexts   # then choose one with --context NAME',
  ]
}

function unauthorized(failure: Failure, subject: Subject, { to, details }: Telling): ApiError {
  const message = `${to.server} does not accept the credentials of ${to.user} (${subject.verb} ${inWords(subject)}): ${failure.message}`
  return new ApiError(401, failure.statusReason, message, {
    ...details,
    remedy: `log in again, then check with: kubectl${context(to)} auth whoami`,
  })
}

function notAllowed(failure: Failure, subject: Subject, { to, details }: Telling): ApiError {
  const who = /User "([^"]+)"/.exec(failure.message)?.[1] ?? to.user
  const where = subject.namespace === undefined ? ' at cluster scope' : ''
  const more = /cannot \w+ (resource|path)/.test(failure.message) ? '' : `: ${failure.message}`
  const message = `${who} may not ${subject.verb} ${inWords(subject)}${where}${more}`
  return new ApiError(403, failure.statusReason, message, {
    ...details,
    remedy: `kvup rbac ${roleWith(subject)} | kubectl${context(to)} apply -f -     then bind it to this user`,
  })
}

/** The smallest role of kvup that has it: to look at KubeVirt and its VMs none is needed that may change them. */
function roleWith({ resource, verb }: Subject): string {
  if (resource.startsWith('hyperconvergeds.')) return 'kvup-workloads'
  const looks = verb === 'get' || verb === 'list' || verb === 'watch'
  return looks && /^(?:kubevirts|virtualmachine\w*)\.kubevirt\.io$/u.test(resource)
    ? 'kvup-view'
    : 'kvup-upgrade'
}

const context = (to: Addressee): string => (to.context === undefined ? '' : ` --context ${to.context}`)

/** A webhook, a quota and pod security answer 403 as well, and no Role helps against them. */
function isRbac(message: string): boolean {
  return !/admission webhook|denied (the )?request|exceeded quota|violates PodSecurity|is being terminated/.test(
    message,
  )
}

function isWrite({ verb }: Subject): boolean {
  return ['create', 'update', 'patch', 'delete'].includes(verb)
}
