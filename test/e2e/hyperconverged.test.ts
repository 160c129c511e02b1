import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Context } from '../../src/context.ts'
import { hold } from '../../src/commands/workloads/hold.ts'
import { restore } from '../../src/commands/workloads/restore.ts'
import type { Cluster } from '../../src/lib/cluster/cluster.ts'
import { KubeVirts } from '../../src/lib/cluster/kinds/kubevirt.ts'
import { methodsOf } from '../../src/lib/workloads/update-methods.ts'
import { hyperConvergedPromises } from '../contract/hyperconverged-versions.ts'
import { mortal } from '../scenario/mortal-cluster.ts'
import {
  crdsMissing,
  installCrd,
  methodsOn,
  ownKubeVirt,
  type RealCrd,
  realCrds,
  replaceCrd,
} from './hyperconverged-lab.ts'
import { clusterOf, processOn } from './in-process.ts'
import { openLoans } from './installation.ts'
import { kvup } from './kvup.ts'
import { type Lab, startLab } from './lab.ts'

const first = ['Evict', 'LiveMigrate']
const text = JSON.stringify(first)
const options = { accept: [], timeout: '5m' }
let lab: Lab
let cluster: Cluster
let pid = 1000

if (crdsMissing !== undefined) console.warn(crdsMissing)

type Command = (cx: Context, with_: typeof options) => Promise<number>

const run = (command: Command, on = cluster): Promise<unknown> =>
  command(processOn(on, ++pid).cx, options).catch((error: unknown) => error)

/**
 * Killed after its first write, its second, and so on, until it comes to its end: what it reads in between leaves the same world behind.
 * Every single call is in test/scenario/killed-hold.test.ts. Returns how often it was killed.
 */
async function killedAfterEachWrite(command: Command, afterwards: () => Promise<void>): Promise<number> {
  for (let most = 1; ; most++) {
    let writes = 0
    const dying = mortal(
      countingWrites(cluster, () => writes++),
      { afterCallWhen: () => writes >= most },
    )
    const ended = run(command, dying)
    await Promise.race([dying.death, ended])
    await ended
    await afterwards()
    if (!dying.dead()) return most - 1
  }
}

/** Told of every write that was answered, but for those of the lock, which come by the clock. */
function countingWrites({ reader, writer, reviewer }: Cluster, tell: () => void): Cluster {
  const counted = async <T>(kind: { kind: string }, write: Promise<T>): Promise<T> => {
    const answer = await write
    if (kind.kind !== 'Lease') tell()
    return answer
  }
  return {
    reader,
    reviewer,
    writer: {
      ...writer,
      create: (kind, object) => counted(kind, writer.create(kind, object)),
      mergePatch: (kind, to, change, part) => counted(kind, writer.mergePatch(kind, to, change, part)),
    },
  }
}

async function methodsOnKubeVirt(): Promise<string> {
  const found = await cluster.reader.find(KubeVirts, { name: 'kubevirt', namespace: 'kubevirt' })
  return JSON.stringify(found.is === 'object' ? methodsOf(found.object) : undefined)
}

describe.skipIf(crdsMissing !== undefined)('HyperConverged on the real kube-apiserver', () => {
  beforeAll(async () => {
    lab = await startLab({ name: 'hyperconverged', workers: 1, operator: 'v1.8.4', methods: first })
    cluster = await clusterOf(lab)
  })
  afterAll(() => lab.stop())

  describe('KubeVirt itself', () => {
    killedOn({ methods: methodsOnKubeVirt, own: async () => ({ stop: async () => undefined }) })
  })

  describe.each(realCrds)('the CRD of $file', (crd) => {
    hyperConvergedPromises(async () => {
      await installCrd(lab, crd)
      return { cluster, namespace: 'default', stored: crd.stored, other: crd.other }
    })
  })

  /** Where two versions are served, one through the other loses what is kept. */
  describe.each(realCrds.slice(1))('owned by it, the CRD of $file', (crd) => {
    killedOn({
      methods: () => methodsOn(cluster, crd),
      own: async () => {
        await installCrd(lab, crd)
        return ownKubeVirt(lab, crd, first)
      },
    })
  })

  test('a CRD that stores another version now, with nobody who converts: nothing is written', async () => {
    const [, before, after] = realCrds as [RealCrd, RealCrd, RealCrd]
    await installCrd(lab, before)
    const owned = await ownKubeVirt(lab, before, first)
    try {
      await replaceCrd(lab, after)
      const refused = await kvup(lab, ['workloads', 'hold', '--yes'])
      expect(refused).toMatchObject({ code: 3 })
      expect(refused.stderr).toContain('is stored as v1beta1 and v1 and nobody converts between them now')
      expect(await openLoans(lab)).toEqual([])
    } finally {
      await replaceCrd(lab, before)
      await owned.stop()
    }
  })
})

/** Hold → SIGKILL → restore: the first value, byte for byte. The real virt-operator judges every write to the KubeVirt. */
function killedOn(on: { methods(): Promise<string>; own(): Promise<{ stop(): Promise<void> }> }): void {
  let owned: { stop(): Promise<void> }
  const expectAsItWas = async () => {
    expect(await on.methods()).toBe(text)
    expect(await methodsOnKubeVirt()).toBe(text)
    expect(await openLoans(lab)).toEqual([])
  }
  beforeAll(async () => {
    owned = await on.own()
  })
  afterAll(() => owned.stop())

  test('contract: hold, killed after each write, restored: byte for byte as it was', async () => {
    const kills = await killedAfterEachWrite(hold, async () => {
      const isOpen = (await openLoans(lab)).length === 1
      expect(isOpen || (await on.methods()) === text).toBe(true)
      expect(await run(restore)).toBe(0)
      await expectAsItWas()
    })
    expect(kills).toBeGreaterThanOrEqual(6)
  })

  test('contract: restore, killed after each write and run again: byte for byte as it was', async () => {
    expect(await run(hold)).toBe(0)
    const kills = await killedAfterEachWrite(restore, async () => {
      const isOpen = (await openLoans(lab)).length === 1
      if (isOpen && (await on.methods()) === '[]') return
      expect(await run(restore)).toBe(0)
      await expectAsItWas()
      expect(await run(hold)).toBe(0)
    })
    expect(kills).toBeGreaterThanOrEqual(6)
    expect(await run(restore)).toBe(0)
    await expectAsItWas()
  })

  test('hold twice by the built program, restore from elsewhere', async () => {
    expect(await kvup(lab, ['workloads', 'hold', '--yes'])).toMatchObject({ code: 0 })
    const again = await kvup(lab, ['workloads', 'hold', '--yes', '-o', 'json'])
    expect(JSON.parse(again.stdout)).toMatchObject({ outcome: 'already-held', kept: first })
    expect(await on.methods()).toBe('[]')
    expect(await kvup(lab, ['workloads', 'restore', '--yes'])).toMatchObject({ code: 0 })
    await expectAsItWas()
  })

  test('strategy set is passed on, and verified on KubeVirt', async () => {
    const line = 'workloads strategy set --methods LiveMigrate --batch-size 3 --bandwidth 64Mi --yes'
    const set = await kvup(lab, line.split(' '))
    expect(set).toMatchObject({ code: 0 })
    expect(await methodsOnKubeVirt()).toBe('["LiveMigrate"]')
    const dry = await kvup(lab, ['workloads', 'strategy', 'set', '--methods', 'none', '--dry-run=server'])
    expect(dry).toMatchObject({ code: 0 })
    expect(await on.methods()).toBe('["LiveMigrate"]')
    expect(
      await kvup(lab, [
        'workloads',
        'strategy',
        'set',
        '--methods',
        first.join(),
        '--batch-size',
        '10',
        '--yes',
      ]),
    ).toMatchObject({ code: 0 })
  })
}
