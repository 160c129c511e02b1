// Many lines, each time behind an upgrade: more than 3 s of processor time.
import { expect, test } from 'vitest'
import type { Reader } from '../../src/lib/kube/cluster.ts'
import { Namespaces } from '../../src/lib/kube/kinds/core-kinds.ts'
import { ApiError } from '../../src/lib/kube/errors.ts'
import type { VmShape } from '../../src/simulator/vm-shape.ts'
import { runText } from '../lib/run-text.ts'
import { minute, type Stage } from './stage.ts'
import { outdated } from './updates.ts'

const vms: readonly VmShape[] = [
  ...['a', 'b', 'c'].map((name) => ({ name })),
  ...['x', 'y', 'z'].map((name) => ({ name, namespace: 'shop' })),
]
const denied = ['d', 'e'].map((name) => ({ name, notMigratable: 'DisksNotLiveMigratable' }))

function kvup(stage: Stage, line: string) {
  return runText(line.split(' '), { cluster: stage.cluster, clock: stage.clock })
}

async function nextOf(stage: Stage, line: string): Promise<string> {
  const { out } = await kvup(stage, line)
  return (
    out
      .trimEnd()
      .split('\n')
      .at(-1)
      ?.split(/ -> |Next: /u)[1] ?? ''
  )
}

test('what comes next of a narrowed list moves no VM besides those that it is of', async () => {
  await outdated([...vms, ...denied], async (stage) => {
    expect(await nextOf(stage, 'workloads outdated')).toBe('kvup workloads update')
    expect(await nextOf(stage, 'workloads outdated -n demo')).toBe('kvup workloads update -n demo')
    expect(await nextOf(stage, 'workloads outdated -n demo -A')).toBe('kvup workloads update')
    expect(await nextOf(stage, 'workloads outdated --node worker-1')).toBe(
      'kvup workloads update --node worker-1',
    )
    expect(await nextOf(stage, 'workloads outdated -n shop -l kubevirt.io/vm!=z')).toBe(
      "kvup workloads update -n shop -l 'kubevirt.io/vm!=z'",
    )
    const one = await kvup(stage, 'workloads outdated -n shop -l kubevirt.io/vm=z -o json')
    expect(JSON.parse(one.out)).toMatchObject({
      items: [{ remedy: ['kvup workloads update -n shop -l kubevirt.io/vm=z'] }],
      next: 'kvup workloads update -n shop -l kubevirt.io/vm=z',
    })
    const foretold = await kvup(stage, 'workloads forecast -n shop -o json')
    expect(JSON.parse(foretold.out)).toMatchObject({
      items: vms.slice(3).map(() => ({ remedy: ['kvup workloads update -n shop'] })),
      next: 'kvup workloads outdated -n shop',
    })
  })
})

test('VMs that block are not unblocked elsewhere, and where --all cannot be kept to them one is named', async () => {
  await outdated([...vms, ...denied], async (stage) => {
    stage.edit({ workloadUpdateStrategy: { workloadUpdateMethods: ['Evict'] } })
    await stage.until(2 * minute)
    expect(await nextOf(stage, 'workloads outdated')).toBe('kvup workloads unblock --all')
    expect(await nextOf(stage, 'workloads outdated -n demo')).toBe('kvup workloads unblock --all -n demo')
    expect(await nextOf(stage, 'workloads outdated -n demo -l kubevirt.io/vm!=a')).toBe(
      'kvup workloads unblock d -n demo',
    )
  })
})

test('held: the forecast of a namespace leads to an update of that namespace', async () => {
  await outdated(
    vms,
    async (stage) => {
      await stage.hold()
      expect(await nextOf(stage, 'workloads forecast -n shop')).toBe('kvup workloads update -n shop')
      expect(await nextOf(stage, 'workloads forecast')).toBe('kvup workloads update')
    },
    ['LiveMigrate'],
  )
})

test('kvup status says in the words of the list why nothing moves: updates are held, or none are set', async () => {
  const held =
    /6 VMs running, 6 outdated\n[\s\S]*! outdated VMs are not updated: automatic VM updates are paused\n/u
  const none =
    /6 VMs running, 6 outdated\n[\s\S]*! outdated VMs are not updated: automatic VM updates are off\n/u
  await outdated(
    vms,
    async (stage) => {
      await stage.hold()
      expect((await kvup(stage, 'status')).out).toMatch(held)
      expect((await kvup(stage, 'workloads outdated')).out).toContain('automatic VM updates are paused')
    },
    ['LiveMigrate'],
  )
  await outdated(vms, async (stage) => expect((await kvup(stage, 'status')).out).toMatch(none))
})

test('an update that stops, or in which VMs failed, goes on with what it was asked for', async () => {
  await outdated([...vms, { name: 'f', migration: 'fail' }, ...denied], async (stage) => {
    const canary = 'workloads update --yes -n demo --canary-label kubevirt.io/vm=f --retries 0'
    const { code, err } = await kvup(stage, canary)
    expect([code, err]).toEqual([
      3,
      expect.stringMatching(
        /-> kvup workloads migrations -n demo +shows[^]*-> kvup workloads update --yes -n demo --retries 0 --canary 1 --exclude demo\/f +tries another VM first/u,
      ),
    ])
    const failed = await kvup(stage, 'workloads update --yes -n demo --retries 0')
    expect([failed.code, failed.err]).toEqual([
      3,
      expect.stringMatching(
        /-> kvup workloads update --yes -n demo --retries 0 +tries the VMs that are still outdated again/u,
      ),
    ])
    expect(failed.out).toContain('-> kvup workloads outdated -n demo')
  })
})

const listing = [
  'workloads outdated',
  'workloads forecast',
  'workloads migrations',
  'workloads update --yes',
  'workloads update --yes --watch-only',
  'workloads unblock --all --yes',
  'workloads restart --yes',
  'workloads restart-required',
]
const nowhere = '! there is no namespace nope'

test('a namespace that there is not is said to be none, and exit 2 of what would change VMs; one that is empty is not', async () => {
  await outdated(vms, async (stage) => {
    stage.edit({ workloadUpdateStrategy: { workloadUpdateMethods: ['LiveMigrate'] } })
    await stage.until(2 * minute)
    for (const line of listing) {
      const { code, out, err } = await kvup(stage, `${line} -n nope`)
      const ends = line.includes('--yes') ? 2 : 0
      expect([line, code, `${err}${out}`]).toEqual([line, ends, expect.stringContaining(nowhere.slice(2))])
      const empty = await kvup(stage, `${line} -n kubevirt`)
      expect([line, empty.code, `${empty.err}${empty.out}`]).toEqual([
        line,
        0,
        expect.not.stringContaining('there is no'),
      ])
    }
    const { code, out, err } = await kvup(stage, 'workloads outdated -n nope --exit-code')
    expect([code, out]).toEqual([2, 'no outdated VMs in namespace nope\n'])
    expect(err).toMatch(/^error: there is no namespace nope\n/u)
    const update = await kvup(stage, 'workloads update --node nope --yes')
    expect([update.code, update.err]).toEqual([2, expect.stringMatching(/^error: there is no node nope\n/u)])
  })
})

test('of what reads no VM a namespace that is not there is exit 2 as well; labels that no VM has are told, and nothing more; --exit-code 2 and 3 say why on stderr in every format, and in the document', async () => {
  await outdated(vms, async (stage) => {
    for (const line of [
      'status',
      'check --to v1.8.4',
      'plan --to v1.8.4',
      'upgrade --to v1.8.4 --yes',
      'wait --for healthy',
    ]) {
      const { code, out, err } = await kvup(stage, `${line} -n nope`)
      expect([line, code, out]).toEqual([line, 2, ''])
      expect(err).toBe('error: there is no namespace nope\n  -> kubectl get namespaces   lists them\n')
    }
    expect((await kvup(stage, 'status -n demo')).code).toBe(0)
    for (const [line, who] of [
      ['workloads update --yes', 'running VM'],
      ['workloads restart --yes', 'VM'],
    ]) {
      const { code, err } = await kvup(stage, `${line} -l nothing=here`)
      expect([line, code, err]).toEqual([line, 0, `warning: no ${who} has the labels nothing=here\n`])
    }
    for (const what of ['outdated', 'forecast', 'restart-required'])
      for (const [asked, code, why] of [
        ['-n nope', 2, 'there is no namespace nope'],
        ['-l nothing=here', 3, /no (?:running )?VM has the labels nothing=here/u],
      ] as const)
        for (const format of ['-o name', '-q', '-o json', '-o wide']) {
          const ended = await kvup(stage, `workloads ${what} --exit-code ${asked} ${format}`)
          expect([what, asked, format, ended.code]).toEqual([what, asked, format, code])
          expect(ended.err).toMatch(typeof why === 'string' ? `error: ${why}\n` : why)
          if (format !== '-o json') continue
          const { error } = JSON.parse(ended.out) as { error: object }
          expect(error).toMatchObject({ code, message: expect.stringMatching(why) as string })
        }
  })
})

test('whether there is the namespace is asked once, where nothing was found, and whoever may not know is told nothing', async () => {
  await outdated(vms, async (stage) => {
    let asked = 0
    const find: Reader['get'] = (kind, ref) => {
      if (kind !== Namespaces) return stage.cluster.reader.get(kind, ref)
      asked++
      throw new ApiError(403, 'Forbidden', 'namespaces is forbidden')
    }
    const reader = new Proxy(stage.cluster.reader, {
      get: (all, name) => (name === 'get' ? find : Reflect.get(all, name)?.bind(all)),
    })
    const place = { cluster: { ...stage.cluster, reader }, clock: stage.clock }
    const run = (line: string) => runText(line.split(' '), place)
    expect(await run('workloads outdated -n nope')).toEqual({
      code: 0,
      out: 'no outdated VMs in namespace nope\n',
      err: '',
    })
    expect(asked).toBe(1)
    await run('workloads outdated -n demo')
    expect(asked).toBe(1)
  })
})

test('an empty -n or -l, as an unset variable leaves it, is no request for all VMs', async () => {
  await outdated(vms, async (stage) => {
    const mark = stage.mark
    for (const line of [...listing, 'restore-settings --yes']) {
      const place = { cluster: stage.cluster, clock: stage.clock }
      const { code, err } = await runText([...line.split(' '), '-n', ''], place)
      expect([line, code, err]).toEqual([line, 2, expect.stringContaining('-n is empty')])
    }
    for (const line of ['workloads outdated', 'workloads update --yes', 'workloads restart --yes']) {
      const place = { cluster: stage.cluster, clock: stage.clock }
      const { code, err } = await runText([...line.split(' '), '-l', ''], place)
      expect([line, code, err]).toEqual([line, 2, expect.stringContaining('-l is empty')])
    }
    expect(stage.writes(mark)).toEqual([])
    expect((await kvup(stage, 'workloads outdated -A --namespace=')).code).toBe(0)
  })
})

test('while kvup moves VMs, those that wait are not told to be updated by another run', async () => {
  await outdated([...vms, ...denied], async (stage) => {
    const looks: ReturnType<typeof kvup>[] = []
    const onEvent = ({ kind }: { kind: string }) => {
      if (kind === 'step-applied') looks.push(kvup(stage, 'workloads outdated -n shop'))
    }
    expect(await stage.update({ parallel: '1' }, { onEvent })).toMatchObject({ code: 0 })
    const { out } = (await looks[0]) ?? { out: '' }
    expect(out).toMatch(
      /^! VMs that are not moved may be waiting for their turn: another kvup is running: \S+, last renewal \d+ s ago$/mu,
    )
    expect(out).toMatch(/\nNext: kvup workloads migrations -n shop\n$/u)
    expect(out).not.toContain('kvup can move')
    const after = await kvup(stage, 'workloads outdated')
    expect(after.out).not.toContain('kvup is at work')
  })
})
