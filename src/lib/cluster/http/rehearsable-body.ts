import { usageError } from '../../system/errors.ts'

/** virt-api reads the dry run of these calls from the body and ignores `?dryRun=All`; the others would really act. */
const rehearsable = new Set(['start', 'stop', 'restart', 'migrate', 'pause', 'unpause', 'evacuate/cancel'])

/** The body of a subresource call that must change nothing (facts 6: RestartOptions.dryRun). */
export function rehearsableBody(group: string, name: string, body: object): object {
  if (group !== 'subresources.kubevirt.io') return body
  if (rehearsable.has(name)) return { ...body, dryRun: ['All'] }
  throw usageError('rehearsal-impossible', `KubeVirt has no dry run for "${name}"`, {
    remedy: '--dry-run=client',
  })
}
