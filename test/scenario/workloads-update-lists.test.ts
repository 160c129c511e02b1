import { expect, test } from 'vitest'
import { type Cluster, readerWith, type Where } from '../../src/lib/kube/cluster.ts'
import type { Kind, KubeObject } from '../../src/lib/kube/object.ts'
import { withBadWatches } from './bad-watches.ts'
import { documentOf, migrationsIn, outdated, overlaps } from './updates.ts'

const vms = (count: number, migration = '30s' as const) =>
  Array.from({ length: count }, (_, i) => ({ name: `vm-${i + 1}`, migration }))

/** The cluster, and which kinds were listed whole: not by a label, a name or in a namespace. A watch begins with a list. */
function counting({ reader, ...others }: Cluster): { cluster: Cluster; lists: (kind: string) => number } {
  const listed: string[] = []
  const note = ({ plural }: Kind, { namespace, name, labels, fields }: Where = {}) => {
    const outdatedOnly = labels === 'kubevirt.io/outdatedLauncherImage'
    if ((namespace ?? name ?? (outdatedOnly ? undefined : labels) ?? fields) === undefined)
      listed.push(plural)
  }
  const counted = readerWith(reader, {
    list: (kind, where) => {
      note(kind, where)
      return reader.list(kind, where)
    },
    pages: (kind, where) => {
      note(kind, where)
      return reader.pages(kind, where)
    },
    watch<T extends KubeObject>(kind: Kind<T>, where: Where, signal: AbortSignal) {
      note(kind, where)
      return reader.watch(kind, where, signal)
    },
  })
  return {
    cluster: { reader: counted, ...others },
    lists: (kind) => listed.filter((plural) => plural === kind).length,
  }
}

const migrations = 'virtualmachineinstancemigrations'

test('a whole run lists all migrations twice: once to follow them, once for its report', async () => {
  await outdated(vms(8), async (stage) => {
    const { cluster, lists } = counting(stage.cluster)
    expect(await stage.update({ parallel: '2', canary: '1' }, { cluster })).toMatchObject({ code: 0 })
    expect(migrationsIn(stage)).toHaveLength(8)
    expect(overlaps(stage)).toBe(2)
    expect(lists(migrations)).toBe(2)
  })
})

test('one look serves a whole dry run', async () => {
  await outdated(vms(3), async (stage) => {
    const { cluster, lists } = counting(stage.cluster)
    const ended = await stage.update({ dryRun: 'client' }, { cluster })
    expect(ended).toMatchObject({ code: 0 })
    expect(documentOf(ended)).toMatchObject({ outcome: 'dry-run', totals: { waiting: 3 } })
    expect({ migrations: lists(migrations), vms: lists('virtualmachineinstances') }).toEqual({
      migrations: 1,
      vms: 1,
    })
  })
})

test.each([{ is: 'silent' }, { is: 'dying', after: 2 }] as const)(
  'with watches that are $is no more are moved at a time, each of them once, and it ends',
  async (badness) => {
    await outdated(vms(6), async (stage) => {
      const cluster = withBadWatches(stage.cluster, badness)
      expect(await stage.update({ parallel: '2' }, { cluster })).toMatchObject({ code: 0 })
      expect(migrationsIn(stage)).toHaveLength(6)
      expect(overlaps(stage)).toBe(2)
    })
  },
)
