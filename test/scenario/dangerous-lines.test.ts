// Lines that are offered are run, each time behind an upgrade: more than 3 s of processor time.
import { expect, test } from 'vitest'
import { runText } from '../lib/run-text.ts'
import { isCommand, remediesIn } from './printed-commands.ts'
import { shellWords } from './shell-words.ts'
import type { Stage } from './stage.ts'
import { byTag, play } from './stage.ts'
import { migrationsIn, outdated } from './updates.ts'

/**
 * Lines that were offered, or taken, although they do harm (issue 16, item 8): a test for each, named after it. Elsewhere are: contract-command-line.test.ts (what `check` and the bare
 * `upgrade` end with), workloads-hold.test.ts (updates paused during somebody's run), ../commands/workloads-outdated.test.ts (`--canary-label` and `-n` mistyped), and
 * ../lib/checks/nodes/nodes.test.ts (`kubectl delete node`).
 */
const kvup = (stage: Stage, line: string) =>
  runText(shellWords(line).slice(1), { cluster: stage.cluster, clock: stage.clock })

const moved = (stage: Stage) => migrationsIn(stage).map(({ spec }) => spec?.vmiName)

const pet = { name: 'pet', evictionStrategy: 'None', notMigratable: 'DisksNotLiveMigratable' } as const
const vms = [
  { name: 'a', migration: 'fail' },
  { name: 'b' },
  { name: 'c' },
  pet,
  { ...pet, name: 'pet-2' },
] as const

const commandsIn = ({ out, err }: { out: string; err: string }) =>
  remediesIn(`${out}\n${err}`).filter(isCommand)

test('16.8 after a failed canary the next line has another one, leaves the VM that failed, and works', async () => {
  await outdated(vms, async (stage) => {
    const failed = await kvup(stage, 'kvup workloads update --yes --canary 1 --retries 0 --pause-between 1m')
    expect(failed.code).toBe(3)
    expect(moved(stage)).toEqual(['a'])
    const line = 'kvup workloads update --yes --canary 1 --retries 0 --pause-between 1m --exclude demo/a'
    expect(commandsIn(failed).filter((one) => one.startsWith('kvup workloads update'))).toEqual([line])
    const next = await kvup(stage, line)
    expect(next).toMatchObject({ code: 0 })
    expect(moved(stage)).toEqual(['a', 'b', 'c'])
    expect(next.err).toMatch(/canary: (?:done in .*, )?1 moved/u)
    expect(next.out).toMatch(/^demo +a +not moved +left out by --exclude$/mu)
  })
})

test('L2 a journal that names a canary whose migrations go well is not believed', async () => {
  await outdated([{ name: 'b' }], async (stage) => {
    const failed = {
      at: new Date(stage.now).toISOString(),
      by: 'jane@bastion',
      procedure: 'update workloads',
    }
    await stage.journal.record({ ...failed, step: '', what: 'started', text: '' })
    await stage.journal.record({
      ...failed,
      step: 'canary',
      what: 'failed',
      text: 'the canary failed: demo/b: x',
    })
    const { out } = await kvup(stage, 'kvup')
    expect(out).not.toContain('canary')
  })
})

test('16.8 after a canary by its label failed the next line has one by number', async () => {
  await outdated(vms, async (stage) => {
    const label = 'kvup workloads update --yes --canary-label kubevirt.io/vm=a --retries 0'
    const failed = await kvup(stage, label)
    const line = 'kvup workloads update --yes --retries 0 --canary 1 --exclude demo/a'
    expect(commandsIn(failed)).toContain(line)
    expect(await kvup(stage, `${line} --until canary`)).toMatchObject({ code: 0 })
    expect(moved(stage)).toEqual(['a', 'b'])
    const none = await kvup(stage, `${label} --exclude demo/a`)
    expect(none).toMatchObject({ code: 2 })
    expect(none.err).toContain('there would be no canary')
    expect(moved(stage)).toEqual(['a', 'b'])
  })
})

test('16.8 after a failed canary nothing that restarts or moves VMs is offered first, bare kvup names the VM and who moved it, and it is not picked again', async () => {
  await outdated(vms, async (stage) => {
    const line = 'kvup workloads update --yes --canary 1 --retries 0'
    const failed = await kvup(stage, line)
    expect(failed.code).toBe(3)
    expect(`${failed.out}${failed.err}`).not.toMatch(/--restart-unmigratable|virtctl/u)
    expect(moved(stage)).toEqual(['a'])
    const { out } = await kvup(stage, 'kvup')
    expect(out).toMatch(/^KubeVirt v1\.8\.4\b.*: healthy, but the canary of a VM update failed: demo\/a$/mu)
    expect(out).toMatch(/the update by \S+@\S+ stopped \d+ \w+(?: \d+ \w+)? ago: /u)
    expect(out).toContain('its line again tries another VM first, and leaves demo/a as it is')
    expect(out).toMatch(/^Next: kvup workloads migrations /mu)
    expect(out).not.toMatch(/resume-updates|workloads update|virtctl/u)
    expect(await kvup(stage, `${line} --until canary`)).toMatchObject({ code: 0 })
    expect(moved(stage)).toEqual(['a', 'b'])
  })
})

test('a rerun leaves the VM out that failed as the canary and says how to include it; it is not green, and --include takes it along', async () => {
  await outdated(vms, async (stage) => {
    const line = 'kvup workloads update --yes --canary 1 --retries 0'
    expect(await kvup(stage, line)).toMatchObject({ code: 3 })
    const again = await kvup(stage, line)
    expect(again.code).toBe(3)
    expect(moved(stage)).toEqual(['a', 'b', 'c'])
    expect(again.err).toMatch(
      /^warning: demo\/a is left out, as it failed as the canary before \(.+\); --include demo\/a takes it along$/mu,
    )
    expect(again.err).toContain('canary: demo/b, in place of what failed as the canary before\n')
    expect(again.err).toContain('error: 1 of 5 VMs failed before and is left out\n')
    expect(again.err).toContain(`${line} --include demo/a   tries demo/a again`)
    const only = await kvup(stage, `${line} -q`)
    expect([only.code, only.out]).toEqual([
      3,
      'update of VMs: incomplete: 1 of 3 VMs failed before and is left out\n',
    ])
    expect(moved(stage)).toEqual(['a', 'b', 'c'])
    expect(await kvup(stage, `${line} --include demo/typo`)).toMatchObject({ code: 2 })
    const included = await kvup(stage, `${line} --include demo/a`)
    expect(included.err).toContain('error: 1 of 3 VMs failed\n')
    expect(moved(stage)).toEqual(['a', 'b', 'c', 'a'])
  })
})

test('where VMs failed neither -q nor the history calls it done; -q names the VM and its reason once, and offers the line that leaves it out', async () => {
  await outdated(vms, async (stage) => {
    const ended = await kvup(stage, 'kvup workloads update --yes --retries 0 -q')
    expect(ended).toMatchObject({ code: 3, out: 'update of VMs: incomplete: 1 of 5 VMs failed\n' })
    const { out } = await kvup(stage, 'kvup history --limit 1')
    expect(out).toMatch(/update VMs +incomplete +\S+ .*1 of 5 VMs failed$/mu)
    const whole = await kvup(stage, `kvup history ${/^(\d+) /mu.exec(out)?.[1]}`)
    expect(whole.out).toMatch(/: incomplete, /u)
    expect(whole.out).toContain('  result     1 of 5 VMs failed\n')
    const { runs } = JSON.parse((await kvup(stage, 'kvup history --limit 1 -o json')).out) as {
      runs: { result: string }[]
    }
    expect(runs).toMatchObject([{ result: 'incomplete', reason: '1 of 5 VMs failed' }])
    expect(ended.err).toMatch(/^error: 1 of 5 VMs failed\n {2}demo\/a: \S.*\n/u)
    expect(ended.err.match(/demo\/a: /gu)).toHaveLength(1)
    const line = 'kvup workloads update --yes --retries 0 -q --exclude demo/a'
    expect(commandsIn(ended)).toContain(line)
    const again = await kvup(stage, 'kvup workloads update --yes --retries 0 -q --include demo/a')
    expect(commandsIn(again)).toContain(line)
    expect(await kvup(stage, line)).toMatchObject({ code: 0 })
  })
})

test('16.8 --exclude: as often as it is typed; what is no VM, or none that is there, is refused before anything is moved', async () => {
  await outdated(vms, async (stage) => {
    for (const wrong of ['b', 'demo/', 'demo/b/c', 'demo/typo']) {
      const refused = await kvup(stage, `kvup workloads update --yes --exclude ${wrong}`)
      expect([wrong, refused.code]).toEqual([wrong, 2])
    }
    expect(await kvup(stage, 'kvup workloads update --yes --watch-only --exclude demo/b')).toMatchObject({
      code: 2,
    })
    expect(moved(stage)).toEqual([])
    const both = 'kvup workloads update --yes --exclude demo/b --exclude demo/a'
    expect(await kvup(stage, both)).toMatchObject({ code: 0 })
    expect(moved(stage)).toEqual(['c'])
  })
})

test('16.8 --exclude says that KubeVirt moves the VM itself once updates resume', async () => {
  await outdated(
    vms,
    async (stage) => {
      await stage.restore({}, {})
      const { err } = await kvup(
        stage,
        'kvup workloads update --yes --exclude demo/b --until canary --canary 1',
      )
      expect(err).toContain(
        'demo/b is left out: KubeVirt updates it by itself (LiveMigrate) once automatic VM updates resume',
      )
    },
    ['LiveMigrate'],
  )
})

test('during the upgrade of somebody else an update of VMs says who upgrades KubeVirt, and not that no VM is outdated', async () => {
  await play({ ...byTag, workers: 3, methods: ['LiveMigrate'], vms: 2 }, async (stage) => {
    let asked: ReturnType<typeof kvup> | undefined
    const onEvent = ({ kind }: { kind: string }) => {
      if (kind === 'step-applied') asked ??= kvup(stage, 'kvup workloads update --yes')
    }
    await stage.upgrade('v1.8.4', {}, { onEvent })
    const { code, out, err } = (await asked) ?? { code: 0, out: '', err: '' }
    expect([code, out]).toEqual([6, ''])
    expect(err).toMatch(
      /^error: KubeVirt is being upgraded by \S+ since \S+Z\. Which VMs are outdated is known/u,
    )
    expect(err).toContain('-> kvup status -w')
  })
})

const evictable = { ...byTag, methods: ['LiveMigrate', 'Evict'], vms: [pet, { name: 'web' }] }

test.each([
  ['kvup upgrade --to v1.8.4 --yes -q', ''],
  ['kvup plan --to v1.8.4 --stable-for 1s', ''],
  ['kvup upgrade --to v1.8.4 --yes --wait-workloads', ' --wait-workloads'],
])(
  'where VMs would be evicted, %s is offered whole with --leave-paused, and is not refused',
  (line, leaves) =>
    play(evictable, async (stage) => {
      const refused = await kvup(stage, line)
      expect(refused).toMatchObject({ code: 3 })
      const paused = `${line.replace(leaves, '')} --leave-paused`
      expect(commandsIn(refused).filter((one) => one.includes('--leave-paused'))).toContain(paused)
      expect(`${refused.out}${refused.err}`).not.toContain('kvup upgrade --leave-paused')
      expect(await kvup(stage, paused)).toMatchObject({ code: 0 })
      expect(moved(stage)).toEqual([])
    }),
)

test('where VMs would be evicted by a sealed plan, the line makes it anew with --leave-paused', () =>
  play(evictable, async (stage) => {
    expect(await stage.plan('v1.8.4', { stableFor: '45s', toFile: 'plan.yaml' })).toMatchObject({ code: 3 })
    const ended = await stage.upgrade(undefined, { plan: 'plan.yaml' })
    expect(ended.error?.remedy).toContain(
      'kvup plan --to v1.8.4 --method image-tag --stable-for 45s --leave-paused --to-file plan.yaml     ends before automatic VM updates resume',
    )
  }))

test('a line that is refused for one flag, or for a missing one, is offered with all the others', () =>
  play(byTag, async (stage) => {
    const files = { 'pl.yaml': (await kvup(stage, 'kvup plan --to v1.8.4 -o yaml')).out }
    const line = 'kvup upgrade --plan pl.yaml --yes --to v1.8.4 --dry-run=client'
    const { cluster, clock } = stage
    const both = await runText(shellWords(line).slice(1), { cluster, clock, files })
    expect(both.code).toBe(2)
    expect(commandsIn(both)).toEqual(['kvup upgrade --plan pl.yaml --yes --dry-run=client'])
    const none = await kvup(stage, 'kvup upgrade --yes -q')
    expect(none.code).toBe(2)
    expect(none.err).toMatch(/^error: --to is missing; (?<best>v1\.8\.\d+) is recommended$/mu)
    expect(commandsIn(none).at(-1)).toMatch(/^kvup upgrade --to v1\.8\.\d+ --yes -q$/u)
  }))

test('check judges as the upgrade does: VMs that would be evicted are a blocker, accepted by name, and its line is taken', () =>
  play(evictable, async (stage) => {
    const judged = await kvup(stage, 'kvup check --to v1.8.4 -q')
    expect(judged).toMatchObject({
      code: 3,
      out: expect.stringMatching(/NOT READY for v1\.8\.4: 1 blocker \(evictions\)/u),
    })
    const page = await kvup(stage, 'kvup check --to v1.8.4')
    expect(page.out).toContain('Evict is among workloadUpdateMethods')
    const line = 'kvup upgrade --to v1.8.4 --leave-paused'
    expect(page.out).toMatch(new RegExp(`^Next: ${line} `, 'mu'))
    expect(await kvup(stage, 'kvup check --to v1.8.4 --accept evictions')).toMatchObject({ code: 0 })
    expect(await kvup(stage, `${line} --yes`)).toMatchObject({ code: 0 })
    expect(moved(stage)).toEqual([])
  }))

test.each(['', ' -q'])(
  'a failed canary says that automatic VM updates stay paused and what resumes them, and does not stutter%s',
  (quiet) =>
    outdated(
      vms.slice(0, 3),
      async (stage) => {
        const ended = await kvup(stage, `kvup workloads update --yes --canary 1 --retries 0${quiet}`)
        expect(ended.code).toBe(3)
        expect(ended.err).toMatch(/^error: the canary failed: demo\/a: /mu)
        expect(ended.err).toMatch(/^ {2}automatic VM updates stay paused$/mu)
        expect(commandsIn(ended).at(-1)).toBe('kvup workloads resume-updates')
      },
      ['LiveMigrate'],
    ),
)

test('-q of a change of settings is its verdict, and a wait that fails says it once', () =>
  play({ ...byTag, methods: ['LiveMigrate'] }, async (stage) => {
    const set = await kvup(stage, 'kvup workloads strategy set --methods LiveMigrate --yes -q')
    expect(set).toMatchObject({ code: 0, out: 'settings of VM updates: already so, nothing was changed\n' })
    const late = await kvup(stage, 'kvup wait --for version=v1.8.4 --timeout 5s -q')
    expect(late).toMatchObject({ code: 4, out: '' })
    expect(late.err.match(/is not met/gu)).toHaveLength(1)
  }))

test('what can never end is not offered: no line accepts it and no list has it; typed by hand it is taken, and where it stands still is said at once', () =>
  play({ ...byTag, workers: 3 }, async (stage) => {
    stage.simulated.faults.set({ notReady: ['worker-2'] })
    await stage.until(10 * 60_000)
    for (const line of [
      'upgrade --to v1.8.4 --yes',
      'plan --to v1.8.4',
      'upgrade --to v1.8.4 --dry-run=client',
      'check --to v1.8.4',
      'upgrade --to v1.8.4 --yes -o json',
    ]) {
      const { code, out, err } = await kvup(stage, `kvup ${line}`)
      expect([line, code, /--accept/u.test(out + err)]).toEqual([line, 3, false])
      expect(out + err).toContain('worker-2')
    }
    let asked = 0
    const choose = () => ((asked += 1), [])
    expect(await stage.upgrade('v1.8.4', {}, { yes: false, choose })).toMatchObject({ code: 3 })
    expect(asked).toBe(0)
    const typed = await kvup(
      stage,
      'kvup upgrade --to v1.8.4 --yes --accept node-ready=back-soon --accept healthy-now --timeout 1m',
    )
    expect(typed.code).toBe(4)
    expect(typed.err).toMatch(/^accepted .*node-ready \("back-soon"; stops at virt-handler on worker-2\)/mu)
  }))
