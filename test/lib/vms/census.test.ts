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
  more?: object
}

/** One VM, `demo/web`, and its instance; a part without a uid is not there. */
function web({ vm, vmi, generation = 1, runStrategy = 'Always', phase = 'Running', ...rest }: Shape): World {
  const { migratable = true, firmware, volumes = [], set, more } = rest
  const domain = { ...(firmware && { firmware }) }
  const owner =
    set === undefined ? [] : [{ kind: 'VirtualMachineInstanceReplicaSet', name: set, controller: true }]
  const place = { name: 'web', namespace: 'demo' }
  return {
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

describe('lost is what no owner is seen to have done', () => {
  const cases: readonly (readonly [name: string, after: World, what: string])[] = [
    ['its instance is another one', web({ vm: 'a', vmi: '2' }), 'restarted'],
    ['its instance is gone', web({ vm: 'a' }), 'stopped'],
    ['its instance failed', web({ vm: 'a', vmi: '1', phase: 'Failed' }), 'failed'],
    [
      'KubeVirt wrote the UUID of its firmware into its spec',
      web({ vm: 'a', vmi: '2', generation: 2, firmware: { uuid: 'x' } }),
      'restarted',
    ],
  ]
  for (const [name, after, what] of cases)
    test(`lost: ${name}`, async () => {
      const place = { kind: 'VirtualMachine', namespace: 'demo', name: 'web' }
      expect(await changes(ran, after)).toMatchObject([{ ...place, what, lost: true }])
    })
})

const set = (generation: number, more = {}) => ({
  virtualmachineinstancereplicasets: [{ metadata: { name: 'rs', namespace: 'demo', uid: 's', generation } }],
  ...more,
})

describe('what its owner did is listed', () => {
  const cases: readonly (readonly [
    name: string,
    before: World,
    after: World,
    what: string,
    why: RegExp,
    seen?: Partial<CensusCircumstances>,
  ])[] = [
    ['VM deleted', ran, web({}), 'deleted', /was deleted$/],
    ['VM made again', ran, web({ vm: 'b', vmi: '2' }), 'replaced', /created again/],
    ['a VM that did not run, deleted', web({ vm: 'a' }), web({}), 'deleted', /was deleted$/],
    ['generation moved', ran, web({ vm: 'a', generation: 3 }), 'stopped', /generation 1, now 3/],
    [
      'stopped and started by its spec',
      ran,
      web({ vm: 'a', vmi: '2', generation: 3 }),
      'restarted',
      /generation 1, now 3/,
    ],
    [
      'restart asked for, and not carried out yet',
      ran,
      web({ vm: 'a', more: { stateChangeRequests: [{ action: 'Stop' }, { action: 'Start' }] } }),
      'stopped',
      /requested/,
    ],
    ['restart seen', ran, web({ vm: 'a', vmi: '2' }), 'restarted', /requested/, { asked: new Set(['a']) }],
    [
      'guest seen to shut down',
      ran,
      web({ vm: 'a', vmi: '2' }),
      'restarted',
      /guest/,
      { shutDown: new Set(['1']) },
    ],
    ['guest shut down', ran, web({ vm: 'a', vmi: '1', phase: 'Succeeded' }), 'shut-down', /guest/],
    [
      'RerunOnFailure stays away',
      web({ vm: 'a', vmi: '1', runStrategy: 'RerunOnFailure' }),
      web({ vm: 'a', runStrategy: 'RerunOnFailure' }),
      'shut-down',
      /RerunOnFailure/,
    ],
    [
      'evicted, as accepted',
      web({ vm: 'a', vmi: '1', migratable: false }),
      web({ vm: 'a', vmi: '2' }),
      'restarted',
      /which was accepted/,
      { evicted: 'not-migratable' },
    ],
    [
      'it did not run',
      web({ vm: 'a', vmi: '1', phase: 'Scheduling' }),
      web({ vm: 'a' }),
      'stopped',
      /was not running before/,
    ],
    ['an instance without a VM', web({ vmi: '1' }), web({}), 'deleted', /without a VM/],
    [
      'its set was scaled in',
      { ...web({ vmi: '1', set: 'rs' }), ...set(1) },
      { ...web({ vmi: '2', set: 'rs' }), ...set(2) },
      'replaced',
      /scaled or changed/,
    ],
    [
      'its set may not be read',
      web({ vmi: '1', set: 'rs' }),
      web({}),
      'deleted',
      /unknown: kvup may not read it/,
    ],
  ]
  for (const [name, before, after, what, why, observed] of cases)
    test(`listed: ${name}`, async () => {
      const found = await changes(before, after, observed)
      expect(found).toMatchObject([{ what, lost: false }])
      expect(found[0]?.why).toMatch(why)
    })

  test('a migratable VM is not among those that may be evicted where KubeVirt may migrate it', async () => {
    expect(await changes(ran, web({ vm: 'a', vmi: '2' }), { evicted: 'not-migratable' })).toMatchObject([
      { lost: true },
    ])
  })

  test('an instance of a set that nobody touched is lost', async () => {
    const before = { ...web({ vmi: '1', set: 'rs' }), ...set(1) }
    const after = {
      ...web({}),
      ...set(1),
      virtualmachineinstances: web({ vmi: '2', set: 'rs' })['virtualmachineinstances'] ?? [],
    }
    expect(await changes(before, after)).toMatchObject([
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
