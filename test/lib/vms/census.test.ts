import { describe, expect, test } from 'vitest'
import type { Reader } from '../../../src/lib/kube/cluster.ts'
import type { Kind, KubeObject } from '../../../src/lib/kube/object.ts'
import { ApiError } from '../../../src/lib/kube/errors.ts'
import {
  type Census,
  type Change,
  changesBetween,
  type CensusCircumstances,
  takeCensus,
} from '../../../src/lib/vms/census/vm-census.ts'
import { mostCensusBytes, pack, packCounts, unpack } from '../../../src/lib/vms/census/saved-census.ts'
import fixture from './census.json' with { type: 'json' }

/** Objects as a cluster would list them, by plural; a kind that is not among them is not served. */
type World = Readonly<Record<string, readonly object[]>>

function readerOf(world: World): Reader {
  const pages = async function* (kind: Kind) {
    const items = world[kind.plural]
    if (items === undefined) throw new ApiError(404, 'NotFound', 'not served')
    yield { items: items as KubeObject[], resourceVersion: '1' }
  }
  return { pages } as unknown as Reader
}

const nothing: CensusCircumstances = { asked: new Set(), shutDown: new Set(), evicted: 'nobody' }

interface Shape {
  /** Uid of the VM and of its instance. */
  vm?: string
  vmi?: string
  generation?: number
  runStrategy?: string
  phase?: string
  migratable?: boolean
  firmware?: object
  volumes?: object[]
  set?: string
  /** Generation of that set. */
  setIs?: number
  more?: object
}

/** One VM, `demo/web`, and its instance; a part without a uid is not there. */
function web({ vm, vmi, generation = 1, runStrategy = 'Always', phase = 'Running', ...rest }: Shape): World {
  const { migratable = true, firmware, volumes = [], set, setIs, more } = rest
  const domain = { ...(firmware && { firmware }) }
  const owner =
    set === undefined ? [] : [{ kind: 'VirtualMachineInstanceReplicaSet', name: set, controller: true }]
  const place = { name: 'web', namespace: 'demo' }
  return {
    ...(setIs !== undefined && {
      virtualmachineinstancereplicasets: [
        { metadata: { name: 'rs', namespace: 'demo', uid: 's', generation: setIs } },
      ],
    }),
    virtualmachines:
      vm === undefined
        ? []
        : [
            {
              metadata: { ...place, uid: vm, generation },
              spec: { runStrategy, template: { spec: { domain, volumes } } },
              status: more,
            },
          ],
    virtualmachineinstances:
      vmi === undefined
        ? []
        : [
            {
              metadata: { ...place, uid: vmi, ownerReferences: owner },
              status: {
                phase,
                conditions: [{ type: 'LiveMigratable', status: migratable ? 'True' : 'False' }],
              },
            },
          ],
  }
}

async function changes(
  before: World,
  after: World,
  observed: Partial<CensusCircumstances> = {},
): Promise<readonly Change[]> {
  const packed = unpack(pack(await takeCensus(readerOf(before))))
  if (packed?.is !== 'by-name') throw new Error('not by name')
  const reader = readerOf(after)
  return changesBetween(reader, {
    before: packed.census,
    after: await takeCensus(reader),
    ...nothing,
    ...observed,
  })
}

const ran = web({ vm: 'a', vmi: '1' })

test.each<[string, after: Shape, what: string]>(fixture.lost as never)(
  'lost is what no owner is seen to have done: %s',
  async (_, after, what) => {
    const place = { kind: 'VirtualMachine', namespace: 'demo', name: 'web' }
    expect(await changes(ran, web(after))).toMatchObject([{ ...place, what, lost: true }])
  },
)

type Seen = { asked?: string[]; shutDown?: string[]; evicted?: 'not-migratable' }

describe('what its owner did is listed', () => {
  test.each<[string, before: Shape, after: Shape, what: string, why: string, seen?: Seen]>(
    fixture.listed as never,
  )('listed: %s', async (...[, before, after, what, why, seen = {}]) => {
    const { asked, shutDown, ...rest } = seen
    const found = await changes(web(before), web(after), {
      ...rest,
      ...(asked && { asked: new Set(asked) }),
      ...(shutDown && { shutDown: new Set(shutDown) }),
    })
    expect(found).toMatchObject([{ what, lost: false }])
    expect(found[0]?.why).toMatch(new RegExp(why, 'u'))
  })

  test('a migratable VM is not among those that may be evicted where KubeVirt may migrate it', async () => {
    expect(await changes(ran, web({ vm: 'a', vmi: '2' }), { evicted: 'not-migratable' })).toMatchObject([
      { lost: true },
    ])
  })

  test('an instance of a set that nobody touched is lost', async () => {
    const before = web({ vmi: '1', set: 'rs', setIs: 1 })
    expect(await changes(before, web({ vmi: '2', set: 'rs', setIs: 1 }))).toMatchObject([
      { kind: 'VirtualMachineInstance', what: 'gone', lost: true },
    ])
  })

  test('a live migration keeps the uid: nothing is told', async () => {
    expect(await changes(ran, ran)).toEqual([])
  })
})

describe('volumes', () => {
  const cases = fixture.volumes as unknown as (readonly [
    name: string,
    before: World,
    after: World,
    expected: readonly object[],
  ])[]
  for (const [name, before, after, expected] of cases)
    test(`volumes: ${name}`, async () => {
      expect(await changes(before, after)).toEqual(expected.map((change) => expect.objectContaining(change)))
    })
})

/** As random as a server's. */
function uids(): () => string {
  let seed = 1
  const hex = () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return seed.toString(16).padStart(8, '0')
  }
  return () => {
    const [a, b, c, d] = [hex(), hex(), hex(), hex()]
    return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-a${c.slice(1, 4)}-${c.slice(4)}${d}`
  }
}

/** That many VMs over a hundred namespaces, each with a claim and a DataVolume and a migration behind it. */
function many(count: number): Census {
  const uid = uids()
  const names = Array.from({ length: count }, (_, i) => `team-${i % 100}/server-${i}`)
  const mark = uids()
  return {
    instances: new Map(
      names.map((name) => [
        name,
        { uid: uid(), phase: 'Running', ready: true, migratable: true, drains: false },
      ]),
    ),
    vms: new Map(
      names.map((name) => [
        name,
        { uid: uid(), generation: 3, spec: mark().slice(0, 8), runStrategy: 'Always' },
      ]),
    ),
    sets: new Map(),
    restartRequired: new Set(),
    volumes: new Map(
      names.flatMap((name) => [
        [`claim ${name}-disk`, { uid: uid(), phase: 'Bound' }],
        [`DataVolume ${name}-disk`, { uid: uid(), phase: 'Succeeded' }],
      ]),
    ),
    migrations: new Map(names.map((name) => [mark().slice(0, 8), { vmi: name, phase: 'Succeeded' }])),
    unread: [],
  }
}

describe('Done 6: the census of 10,000 VMs fits', () => {
  const census = many(10_000)
  const packed = pack(census)

  test('by name, in what the cluster has room for, and in 200 bytes a VM', () => {
    expect(packed.length).toBeLessThan(mostCensusBytes)
    expect(packed.length / 10_000).toBeLessThan(200)
  })

  test('nothing of it is lost on the way', () => {
    const back = unpack(packed)
    if (back?.is !== 'by-name') throw new Error('not by name')
    expect(back.census).toEqual({
      ...census,
      migrations: new Map([...census.migrations.keys()].map((uid) => [uid, { vmi: '', phase: '' }])),
    })
  })

  test('beyond it, how many ran in each namespace is kept', () => {
    const counted = unpack(packCounts(census))
    expect(counted).toEqual({ is: 'counted', running: expect.any(Map) })
    expect(counted?.is === 'counted' && counted.running.get('team-7')).toBe(100)
  })

  test('what is no census is none', () => {
    expect(unpack(Buffer.from('no gzip'))).toBeUndefined()
    expect(unpack(packed.subarray(0, packed.length - 1000))).toBeUndefined()
  })
})
