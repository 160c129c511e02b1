/** One request as the audit log has it. Watches are recorded when they begin. */
export interface AuditRecord {
  readonly user: string
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource?: string | undefined
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  readonly dryRun: boolean
  readonly userAgent: string
  /** HTTP status of the answer. */
  readonly status: number
  readonly at: Date
}

const reading = new Set(['get', 'list', 'watch'])

/** Whether the request was meant to change something and was not refused: reviews and dry runs are no writes. */
export function isWrite({ verb, dryRun, group, status }: AuditRecord): boolean {
  return (
    !reading.has(verb) && !dryRun && status < 400 && !/^(authorization|authentication)\.k8s\.io$/.test(group)
  )
}
