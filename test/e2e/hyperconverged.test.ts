import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pauseUpdates } from '../../src/commands/workloads/pause-updates.ts'
import { restoreSettings } from '../../src/commands/restore-settings.ts'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { hyperConvergedPromises } from '../contract/hyperconverged-versions.ts'
import {
  crdsMissing,
  installCrd,
  loansOn,
  methodsOn,
  methodsOnKubeVirt,
  ownKubeVirt,
  type RealCrd,
  realCrds,
  replaceCrd,
} from './hyperconverged-lab.ts'
import { clusterOf } from './in-process.ts'
import { killedAtEachCall, rememberingRights, run } from './killed-at-each-call.ts'
import { kvup } from './kvup.ts'
import { type Lab, startLab } from './lab.ts'
import { playLeader } from './played-leader.ts'

const first = ['Evict', 'LiveMigrate']
const text = JSON.stringify(first)
let lab: Lab
let cluster: Cluster

if (crdsMissing !== undefined) console.warn(crdsMissing)

/** Who owns the methods while it lasts. */
interface Owned {
  methods(): Promise<string>
  stop(): Promise<void>
}

interface Owner {
  name: string
  own(): Promise<Owned>
  /** The CRD of the next release, which stores another version. */
  next?: RealCrd | undefined
}

const kubeVirtItself: Owner = {
  name: 'KubeVirt itself',
  own: async () => ({ methods: () => methodsOnKubeVirt(cluster), stop: async () => undefined }),
}

/** Where two versions are served, one through the other loses what is kept. */
const owners: readonly Owner[] = [
  kubeVirtItself,
  ...realCrds.slice(1).map((crd, index) => ({
    name: `the CRD of ${crd.file}`,
    own: async () => {
      await installCrd(lab, crd)
      return { ...(await ownKubeVirt(lab, crd, first)), methods: () => methodsOn(cluster, crd) }
    },
    next: realCrds[index + 2],
  })),
]

async function expectAsItWas(owned: Owned): Promise<void> {
  expect(await owned.methods()).toBe(text)
  expect(await methodsOnKubeVirt(cluster)).toBe(text)
  expect(await loansOn(cluster)).toEqual([])
}

describe.skipIf(crdsMissing !== undefined)('HyperConverged on the real kube-apiserver', () => {
  beforeAll(async () => {
    lab = await startLab({ name: 'hyperconverged', workers: 1, operator: 'v1.8.4', methods: first })
    cluster = rememberingRights(await clusterOf(lab))
  })
  afterAll(() => lab.stop())

  describe.each(realCrds)('the CRD of $file', (crd) => {
    hyperConvergedPromises(crd.other, async () => {
      await installCrd(lab, crd)
      return { cluster, namespace: 'default', stored: crd.stored }
    })
  })

  test('pause twice by the built program, restore from elsewhere, with all that virt-operator makes of it', async () => {
    const owned = await kubeVirtItself.own()
    expect(await heldTwice(owned)).toEqual(wasHeld)
    await expectAsItWas(owned)
  })

  describe('where a generation is seen at once', () => {
    let leader: { stop(): Promise<void> }
    beforeAll(async () => {
      leader = await playLeader(lab)
    })
    afterAll(() => leader.stop())
    describe.each(owners)('owned by $name', (owner) => {
      vms(owner)
    })
  })
})

/** By the built program, and restored by another process. */
async function heldTwice(owned: Owned) {
  const held = await kvup(lab, ['workloads', 'pause-updates', '--yes'])
  const again = await kvup(lab, ['workloads', 'pause-updates', '--yes', '-o', 'json'])
  const between = await owned.methods()
  const restored = await kvup(lab, ['restore-settings', '--yes'])
  return { codes: [held, again, restored].map(({ code }) => code), again: JSON.parse(again.stdout), between }
}

const wasHeld = {
  codes: [0, 0, 0],
  again: expect.objectContaining({ outcome: 'already-paused', kept: first }),
  between: '[]',
}

/** Enough that every part of a run is among them: the look, the rights, the lock, the journal, the change, the end. */
const many = {
  calls: expect.toSatisfy((calls: number) => calls >= 20),
  writes: expect.toSatisfy((writes: number) => writes >= 6),
}

const set = (...flags: string[]) => kvup(lab, ['workloads', 'strategy', 'set', ...flags])

const restore: typeof pauseUpdates = (cx, { timeout, accept }) =>
  restoreSettings(cx, { timeout, accept, poolOrder: [], stableFor: '30s', pauseBefore: [] })

/** Hold → SIGKILL → restore: the first value, byte for byte. The real virt-operator judges every write to the KubeVirt. */
function vms(owner: Owner): void {
  let owned: Owned
  beforeAll(async () => {
    owned = await owner.own()
  })
  afterAll(() => owned.stop())

  test('contract: hold, killed at each call, restored: byte for byte as it was', async () => {
    const kills = await killedAtEachCall(pauseUpdates, cluster, async () => {
      const isOpen = (await loansOn(cluster)).length === 1
      expect(isOpen ? await run(restore, cluster) : 0).toBe(0)
      await expectAsItWas(owned)
    })
    expect(kills).toEqual(many)
  })

  test('contract: restore, killed at each call and run again: byte for byte as it was', async () => {
    expect(await run(pauseUpdates, cluster)).toBe(0)
    const kills = await killedAtEachCall(restore, cluster, async () => {
      const isOpen = (await loansOn(cluster)).length === 1
      if (isOpen && (await owned.methods()) === '[]') return
      expect(await run(restore, cluster)).toBe(0)
      await expectAsItWas(owned)
      expect(await run(pauseUpdates, cluster)).toBe(0)
    })
    expect(kills).toEqual(many)
    expect(await run(restore, cluster)).toBe(0)
    await expectAsItWas(owned)
  })

  test('pause twice by the built program, restore from elsewhere', async () => {
    expect(await heldTwice(owned)).toEqual(wasHeld)
    await expectAsItWas(owned)
  })

  test('strategy set is passed on, and verified on KubeVirt', async () => {
    expect(
      await set('--methods', 'LiveMigrate', '--batch-size', '3', '--bandwidth', '64Mi', '--yes'),
    ).toMatchObject({ code: 0 })
    expect(await methodsOnKubeVirt(cluster)).toBe('["LiveMigrate"]')
    expect(await set('--methods', 'none', '--dry-run=server')).toMatchObject({ code: 0 })
    expect(await owned.methods()).toBe('["LiveMigrate"]')
    expect(await set('--methods', first.join(), '--batch-size', '10', '--yes')).toMatchObject({ code: 0 })
  })
  const { next } = owner
  if (next === undefined) return
  test('the CRD of the next release, with nobody who converts: nothing is written', async () => {
    await replaceCrd(lab, next)
    const refused = await kvup(lab, ['workloads', 'pause-updates', '--yes'])
    expect(refused).toMatchObject({ code: 3 })
    expect(refused.stderr).toContain('is stored as v1beta1 and v1 and nothing converts between them now')
    expect(await loansOn(cluster)).toEqual([])
  })
}
