import { readFile } from 'node:fs/promises'

/** One write that the API server answered. */
export interface AuditWrite {
  at: string
  verb: string
  user: string
  userAgent: string
  /** `kubevirts.kubevirt.io/kubevirt` */
  object: string
  code: number
}

export interface AuditFilter {
  /** What the user agent begins with. */
  userAgent?: string
  user?: string
  /** Only requests that arrived after it. */
  since?: Date
  /** The dry runs instead of what was really written. */
  dryRunSteps?: boolean
}

interface AuditEvent {
  verb: string
  requestURI: string
  requestReceivedTimestamp: string
  user: { username: string }
  userAgent?: string
  objectRef?: { resource?: string; apiGroup?: string; name?: string; subresource?: string }
  responseStatus?: { code?: number }
}

/** Questions to the API server that are asked by POST. */
const questions = new Set(['selfsubjectaccessreviews', 'selfsubjectrulesreviews', 'selfsubjectreviews'])

/** Every write in an audit log, but for dry runs (or only these) and access reviews, which change nothing. */
export async function readWrites(file: string, filter: AuditFilter): Promise<AuditWrite[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line.endsWith('}'))
  return lines
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter(
      (event) =>
        event.requestURI.includes('dryRun=All') === (filter.dryRunSteps ?? false) &&
        !questions.has(event.objectRef?.resource ?? '') &&
        fits(event, filter),
    )
    .map(writeOf)
}

const fits = (event: AuditEvent, { userAgent = '', user, since }: AuditFilter): boolean =>
  (event.userAgent ?? '').startsWith(userAgent) &&
  (user === undefined || event.user.username === user) &&
  (since === undefined || new Date(event.requestReceivedTimestamp) > since)

function writeOf(event: AuditEvent): AuditWrite {
  const { resource = '', apiGroup = '', name = '', subresource = '' } = event.objectRef ?? {}
  return {
    at: event.requestReceivedTimestamp,
    verb: event.verb,
    user: event.user.username,
    userAgent: event.userAgent ?? '',
    object: `${[resource, apiGroup].filter(Boolean).join('.')}${subresource && `/${subresource}`}/${name}`,
    code: event.responseStatus?.code ?? 0,
  }
}
