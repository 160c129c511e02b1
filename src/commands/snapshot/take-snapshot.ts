import type { Context } from '../../context.ts'
import type { KubeObject } from '../../lib/cluster/object.ts'
import { RecordingReader } from '../../lib/cluster/saved/recording-reader.ts'
import type { SnapshotIndex } from '../../lib/cluster/saved/snapshot-index.ts'
import { gatherEvidence } from '../../lib/facts/gather-evidence.ts'
import { findKubeVirts } from '../../lib/facts/find-kubevirts.ts'
import { homeOf } from '../../lib/facts/snapshot.ts'
import { openLoans } from '../../lib/procedure/open-loans.ts'
import { accessOf } from '../../lib/upgrade/required-access.ts'

interface Taken {
  index: SnapshotIndex
  objects: readonly KubeObject[]
}

/**
 * Asks what the read commands ask and keeps every answer: what was not asked is not in it, and says so when it is asked for. Throws
 * what the Reader throws for anything but 403 and 404.
 */
export async function takeSnapshot(cx: Context, redact: boolean): Promise<Taken> {
  const cluster = await cx.cluster()
  const { reviewer } = cluster
  const at = cx.clock.now()
  const recorder = new RecordingReader(cluster.reader)
  const home = homeOf(await findKubeVirts(recorder))
  const rights = home === undefined ? undefined : accessOf('kvup-operator-manifest', home)
  await gatherEvidence({ reader: recorder, reviewer: recorder.reviewing(reviewer) }, at, { rights })
  if (home !== undefined)
    await openLoans({ ...cluster, reader: recorder }, { namespace: home, clock: cx.clock })
  const objects = recorder.objects()
  const index: SnapshotIndex = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'SnapshotIndex',
    metadata: { name: 'snapshot' },
    takenAt: at.toISOString(),
    takenBy: `kvup/${cx.world.version}`,
    redacted: redact,
    objects: objects.length,
    ...(home !== undefined && { kubevirtNamespace: home }),
    ...recorder.recorded(),
  }
  if (!redact) return { index, objects }
  const me = await reviewer.whoAmI().catch(() => undefined)
  const { redacted } = await import('../../lib/cluster/saved/redact/redact.ts')
  return redacted(objects, { home, users: me === undefined ? [] : [me], index })
}
