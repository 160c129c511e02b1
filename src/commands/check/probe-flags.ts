import { usageError } from '../../lib/system/errors.ts'

interface Asked {
  probeImages?: boolean
  to?: string
  manifest?: string
  from?: string
}

/** Refused before the cluster is read. Throws `usage`. */
export function ensureProbesFit({ probeImages, to, manifest, from }: Asked): void {
  if (!probeImages) return
  if (from !== undefined)
    throw usageError(
      'probe-saved',
      '--probe-images makes pods, and a saved cluster has no nodes to make them on',
      {
        remedy: 'leave out --from, or --probe-images',
      },
    )
  if (to === undefined || manifest === undefined)
    throw usageError('probe-without-manifest', '--probe-images needs to know the images of the target', {
      remedy: 'add --to VERSION --manifest FILE|URL',
    })
}
