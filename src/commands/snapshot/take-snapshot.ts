import type { Context } from '../../context.ts'
import type { KubeObject } from '../../lib/cluster/object.ts'
import { RecordingReader } from '../../lib/cluster/saved/recording-reader.ts'
import type { SnapshotIndex } from '../../lib/cluster/saved/snapshot-index.ts'
import { gatherEvidence } from '../../lib/facts/gather-evidence.ts'
import { findKubeVirts } from '../../lib/facts/find-kubevirts.ts'
import { takeForWindow } from '../../lib/eus/plan/look.ts'
import { isPlatform } from '../../lib/facts/layers/layers-snapshot.ts'
import { takeWhatIsAbove } from '../../lib/facts/layers/take-what-is-above.ts'
import { homeOf } from '../../lib/facts/snapshot.ts'
import { configMapJournal } from '../../lib/procedure/journal-config-map.ts'
import { accessOf, type NeededAccess } from '../../lib/upgrade/required-access.ts'

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
  const recorder = new RecordingReader(cluster.reader)
  const home = homeOf(await findKubeVirts(recorder))
  const rights = home === undefined ? undefined : rightsAsked(home)
  const asked = { reader: recorder, reviewer: recorder.reviewing(reviewer) }
  const { takenAt } = await gatherEvidence(asked, cx.clock, { rights })
  if (home !== undefined)
    await configMapJournal(
      { ...cluster, reader: recorder },
      { namespace: home, who: '', clock: cx.clock },
    ).missing()
  await takeWhatIsAbove(recorder)
  if (await isPlatform(recorder)) await takeForWindow(recorder)
  const objects = recorder.objects()
  const index: SnapshotIndex = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'SnapshotIndex',
    metadata: { name: 'snapshot' },
    takenAt,
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

/** Of each method that an upgrade may take, each once: a check of what was saved asks for the rights of one of them. */
function rightsAsked(home: string): readonly NeededAccess[] {
  const all = [...accessOf('kvup-operator-manifest', home), ...accessOf('kvup-olm', home)]
  return [...new Map(all.map((one) => [JSON.stringify(one.access), one])).values()]
}
