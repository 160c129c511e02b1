// The question of every scenario of the demo: more than 3 s of processor time.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { filesOf, typed } from '../../src/commands/demo/demo.ts'
import { asYaml } from '../../src/lib/manifests/apply-manifest.ts'
import { wrap } from '../../src/lib/output/text.ts'
import { defaultTimeout } from '../../src/lib/upgrade/upgrade-duration.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { type Scenario, scenarios } from '../../src/simulator/scenarios.ts'
import { startScenario } from '../../src/simulator/simulated-cluster.ts'
import { runText } from '../lib/run-text.ts'
import { byManifest, byTag, play, type Stage } from './stage.ts'

const address = { context: 'prod-eu', server: 'https://10.0.0.1:6443' }

/** What stands on a terminal of 80 columns when the question is asked; and how it ended after a no. */
async function shown(scenario: Scenario): Promise<{ code: number; lines: readonly string[]; err: string }> {
  const clock = new SimClock()
  const cluster = await startScenario(scenario, { clock })
  try {
    const to = 'upgrade' in scenario ? scenario.upgrade.to : undefined
    const { line, args } = typed(scenario)
    const [, ...command] = line.split(' ')
    const words = command.slice(0, command[0] === 'upgrade' ? 1 : 2)
    const place = {
      cluster: { ...cluster.cluster(), address },
      clock,
      answer: false,
      files: {
        ...filesOf(scenario),
        ...(to !== undefined && { 'operator.yaml': asYaml(cluster.operatorManifest(to)) }),
      },
    }
    const { code, err } = await runText(
      [...words, ...args.map((word) => (word === '-' ? 'operator.yaml' : word))],
      place,
    )
    const before = err.slice(0, Math.max(0, err.search(/error:|Canceled\./u))).trimEnd()
    return { code, err, lines: before.split('\n').flatMap((text) => wrap(text, 80)) }
  } finally {
    await cluster.stop()
  }
}

const lineOf = (name: string) => typed(scenarios.find((one) => one.name === name)!).line

test('what a scenario of the demo prints to be typed again has all flags, and the manifest by its name', () => {
  expect(lineOf('stored-version')).toBe(
    'kvup upgrade --to v1.9.0 --manifest kubevirt-operator.yaml --accept crd-stored-versions --timeout 3m',
  )
  expect(lineOf('outdated-workloads')).toMatch(/^kvup workloads update(?: |$)/u)
})

describe('what stands above the question', () => {
  test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
    '%s: on 80 columns at most 16 lines, of an EUS upgrade 24',
    async (name, scenario) => {
      const { code, lines, err } = await shown(scenario)
      expect([code, err]).toEqual([3, expect.stringContaining('Nothing was changed')])
      expect(lines.slice(name.includes('eus') ? 24 : 16)).toEqual([])
    },
  )

  test('cluster, user, from and to, method, time, impact, way back and risks by severity', async () => {
    const { lines } = await shown(scenarios.find(({ name }) => name === 'second-handler-roll')!)
    const text = lines.join('\n')
    expect(lines.slice(0, 2).join(' ').replaceAll(/\s+/gu, ' ')).toMatch(
      /^Upgrade KubeVirt v1\.7\.0 -> v1\.8\.4 on prod-eu \(https:\/\/10\.0\.0\.1:6443\) as kubernetes-admin/u,
    )
    const labels = ['way back', 'method', 'time', 'impact', 'updates', 'backup', 'warning', 'info']
    const places = labels.map((label) => text.search(new RegExp(`^${label} {2,}`, 'mu')))
    expect(places.every((place) => place > 0)).toBe(true)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(text).toMatch(/^warning .*\(kubernetes-window\)/msu)
  })

  test('the way back says which CRDs it takes away, in its own row, and no info says it once more', async () => {
    const { lines } = await shown(scenarios.find(({ name }) => name === 'broken-job')!)
    const text = lines.join(' ').replaceAll(/\s+/gu, ' ')
    expect(text).toContain(
      'way back to v1.7.0, until virt-controller is updated; after that unsupported. Going back deletes the CRDs that v1.7.0 lacks, and their objects method ',
    )
    expect(text).not.toContain('cannot-be-undone')
    expect(lines.length).toBeLessThanOrEqual(16)
  })

  test('within one minor going back takes nothing away', async () => {
    await play({ ...byTag, version: 'v1.8.3', operator: 'v1.8.4' }, async (stage) => {
      const asked = await stage.upgrade('v1.8.4', {}, unwilling().terminal)
      expect(asked.text).toContain('until virt-controller is updated; after that unsupported\n')
      expect(asked.text).not.toContain('Going back deletes')
    })
  })

  test('that there is no way back stands right below the head', async () => {
    const { lines } = await shown(scenarios.find(({ name }) => name === 'operator-manifest')!)
    const head = lines.findIndex((line) => line.startsWith('! There is no way back'))
    expect([1, 2]).toContain(head)
  })
})

/** Answers no, and keeps what was asked. */
function unwilling() {
  const asked: string[] = []
  const answer = async (question: string) => {
    asked.push(question)
    return false
  }
  return { asked, terminal: { yes: false, answer } }
}

describe('16.8 the manifest is read and judged before the question', () => {
  let server: Server
  let base = ''
  let text = ''
  beforeAll(async () => {
    server = createServer((_, response) => response.end(text))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => void server.close())

  test('an address that does not answer ends it, and nobody is asked', async () => {
    await play(byManifest, async (stage) => {
      const { asked, terminal } = unwilling()
      const away = { manifest: undefined as never, manifestBase: 'http://127.0.0.1:9' }
      expect(await stage.upgrade('v1.9.0', away, terminal)).toMatchObject({ code: 8 })
      expect(asked).toEqual([])
    })
  })

  test('what an address gives is judged, and nobody is asked', async () => {
    await play(byManifest, async (stage) => {
      const { asked, terminal } = unwilling()
      const binding = {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'extra' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'mallory' }],
      }
      text = asYaml([...stage.simulated.operatorManifest('v1.9.0'), binding])
      const there = { manifest: undefined as never, manifestBase: base }
      const ended = await stage.upgrade('v1.9.0', there, terminal)
      expect(ended).toMatchObject({ code: 3, error: { reason: 'manifest-extras' } })
      expect(asked).toEqual([])
    })
  })
})

describe('16.8 the backup file is told before the question', () => {
  test('with its folder, and it is written after the yes alone; one that holds something else is refused before it', async () => {
    await play(byManifest, async (stage) => {
      const { asked, terminal } = unwilling()
      const ended = await stage.upgrade('v1.9.0', {}, terminal)
      expect(asked).toHaveLength(1)
      expect(ended.text).toMatch(
        /^backup {2,}\.\/kvup-backup-v1\.8\.4-\w+\.yaml \(operator objects\); not etcd or VMs$/mu,
      )
      expect([...stage.files.keys()].filter((file) => file.includes('backup'))).toEqual([])
      stage.files.set('notes.yaml', 'precious: yes\n')
      const other = await stage.upgrade('v1.9.0', { backup: 'notes.yaml' }, terminal)
      expect(other).toMatchObject({ code: 2, error: { reason: 'backup' } })
      expect(asked).toHaveLength(1)
    })
  })

  test('where no manifest is applied there is none: what is saved, and where, and that VMs are not', async () => {
    await play(byTag, async (stage) => {
      const ended = await stage.upgrade('v1.8.4', {}, unwilling().terminal)
      expect(ended.text).toMatch(
        /^backup {2,}workloadUpdateMethods alone, on KubeVirt kubevirt; not etcd or VMs$/mu,
      )
      expect(ended.text).not.toContain('.yaml')
    })
  })
})

test('16.8 going back prints nothing of going forward above the question', async () => {
  await play({ ...byTag, version: 'v1.8.4', workers: 3, vms: [{ name: 'web-1' }] }, async (stage) => {
    const accept = ['downgrade', 'kubernetes-window', 'issue-17029']
    const ended = await stage.upgrade('v1.7.0', { method: 'image-tag', accept }, unwilling().terminal)
    expect(ended.lines[0]).toMatch(/^Downgrade KubeVirt v1\.8\.4 → v1\.7\.0/u)
    expect(ended.text).not.toMatch(
      /new in v1\.7\.0|resume at the end|way back|migrates 1\b|Upgrade KubeVirt/u,
    )
    expect(ended.text).toMatch(/^updates {2,}.*are paused until/mu)
  })
})

describe('16.8 the default of --timeout is above the estimate, and the words agree', () => {
  test.each([
    [undefined, 60],
    [{ highSeconds: 5 * 60 }, 60],
    [{ highSeconds: 61 * 60 }, 130],
    [{ highSeconds: 3 * 3600 }, 360],
  ])('%j: %i minutes', (range, minutes) => {
    expect(defaultTimeout(range)).toBe(minutes * 60_000)
  })

  test('no step of a plan is given longer than the run has, and the question tells that time', async () => {
    await play(byManifest, async (stage) => {
      const planned = await stage.plan('v1.9.0')
      const { steps } = planned.documents[0] as unknown as { steps: { time?: { atMostSeconds: number } }[] }
      const longest = Math.max(...steps.map(({ time }) => time?.atMostSeconds ?? 0))
      expect(longest).toBe(3600)
      const typedNone = { timeout: undefined as never }
      const ended = await stage.upgrade('v1.9.0', typedNone, unwilling().terminal)
      expect(ended.text).toMatch(/^time {2,}.*gives up after 1 h$/mu)
    })
  })
})

const older = (stage: Stage, options: object, terminal: object) =>
  stage.upgrade('v1.7.0', { method: 'image-tag', ...options }, terminal)
const allButOne = (values: readonly string[]) => values.slice(1)
const newer = { ...byTag, version: 'v1.8.4', workers: 3, vms: [{ name: 'web-1' }] } as const

describe('risks that keep it from beginning', () => {
  test('without a terminal: exit 3, and the whole line to paste, with the flags that were typed; on one, none or not all of them: exit 3, and nobody is asked', async () => {
    await play(newer, async (stage) => {
      const commandLine = 'kvup upgrade --to v1.7.0 --method image-tag --accept kubernetes-window=lab'
      const ended = await older(stage, { accept: ['kubernetes-window=lab'] }, { commandLine })
      expect(ended.code).toBe(3)
      expect(ended.error?.remedy.at(-1)).toMatch(
        /^kvup upgrade --to v1\.7\.0 --method image-tag --accept kubernetes-window=lab --accept downgrade {5}accepts \S.*$/u,
      )
      const { asked, terminal } = unwilling()
      const none = await older(stage, {}, { ...terminal, choose: () => [] })
      expect(none.code).toBe(3)
      expect(none.text).toContain('Nothing was selected. Nothing was changed.')
      expect(none.text).not.toContain('--accept')
      expect(await older(stage, {}, { ...terminal, choose: allButOne })).toMatchObject({ code: 3 })
      expect(asked).toEqual([])
      expect(stage.writes()).toEqual([])
    })
  })

  test('on a terminal they are chosen from a list; all of them taken, the question is asked, and the journal has them', async () => {
    await play(newer, async (stage) => {
      const offered: string[] = []
      const choose = (values: readonly string[]) => {
        offered.push(...values)
        return values
      }
      const asked: string[] = []
      const answer = async (question: string) => asked.push(question) > 0
      const commandLine = 'kvup upgrade --to v1.7.0 --method image-tag'
      const ended = await older(stage, {}, { yes: false, answer, choose, commandLine })
      expect(ended.code).toBe(0)
      expect(offered).toContain('downgrade')
      expect(asked).toEqual(['Downgrade KubeVirt from v1.8.4 to v1.7.0?'])
      expect(ended.text).toMatch(/^accepted {2,}.*downgrade/mu)
      const entries = await stage.journal.entries()
      expect(entries.filter(({ what }) => what === 'accepted').map(({ step }) => step)).toContain('downgrade')
    })
  })
})
