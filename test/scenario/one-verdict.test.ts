// Each scenario that ends with exit 4 is run twice: more than 3 s of processor time.
import { beforeAll, expect, test } from 'vitest'
import { typed } from '../../src/commands/demo/demo.ts'
import { asYaml } from '../../src/lib/manifests/apply-manifest.ts'
import { scenarioNamed } from '../../src/simulator/scenarios.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { startScenario } from '../../src/simulator/simulated-cluster.ts'
import { runText } from '../lib/run-text.ts'
import { byTag, minute, play } from './stage.ts'

/** Scenarios that end with exit 4: the verdict of all screens, the cause in it, and the line that looks at the cause or removes it. */
const rows = [
  ['wrong-tag', 'STALLED', / cannot pull \S+:v1\.8\.5: not found$/u, /^kubectl -n kubevirt describe pod /u],
  [
    'missing-image',
    'STALLED',
    /^virt-template-apiserver .* cannot pull /u,
    /^kubectl -n kubevirt describe pod /u,
  ],
  [
    'denied-registry',
    'STALLED',
    /^virt-api on .*not allowed to pull it$/u,
    /^kubectl -n kubevirt describe pod /u,
  ],
  ['broken-job', 'STALLED', / in Error \(exit code 1\)/u, /^kubectl -n kubevirt logs /u],
  [
    'quota-used-up',
    'STALLED',
    /: the ResourceQuota pods is used up /u,
    /^kubectl -n kubevirt describe resourcequota pods$/u,
  ],
  ['stored-version', 'DEGRADED', /has objects stored as v1alpha1/u, /^kvup check --to v1\.9\.0$/u],
  ['frozen-status', 'STALLED', /^no progress on virt-handler/u, /^kubectl -n kubevirt logs /u],
  [
    'canary-crash',
    'STALLED',
    /^virt-handler on .* is in CrashLoopBackOff /u,
    /^kubectl -n kubevirt logs .* --previous$/u,
  ],
  [
    'unschedulable',
    'STALLED',
    /^pod virt-api-\S+ finds no node: /u,
    /^kubectl -n kubevirt describe pod virt-api-/u,
  ],
  [
    'not-ready-node',
    'STALLED',
    /^node worker-2 is NotReady, and virt-handler waits for it$/u,
    /^kubectl describe node worker-2$/u,
  ],
  [
    'old-operator',
    'DEGRADED',
    /^virt-operator lacks permissions that v1\.8\.4 needs /u,
    /^kvup upgrade --to v1\.8\.4 --method operator-manifest$/u,
  ],
  [
    'operator-without-rights',
    'DEGRADED',
    /^virt-operator may not patch /u,
    /^kvup upgrade --to v1\.8\.4 --method operator-manifest$/u,
  ],
  [
    'operator-stopped',
    'STALLED',
    /^virt-operator is gone or stuck: its leader \S+ did not renew its Lease/u,
    /^kubectl -n kubevirt get pods /u,
  ],
] as const

/** `KubeVirt v1.7.0 -> v1.8.4: STALLED for 3 m: CAUSE`, what the first command is behind it, and which line continues. */
function headOf(text: string) {
  const head =
    /^KubeVirt (?<what>.*?): (?<word>[A-Z]+)(?: for (?<span>[^:]+))?: (?<cause>.*)$/mu.exec(text)?.groups ??
    {}
  const next = /^Next: (?<command>.+?)(?: {3,}.*)?$/mu.exec(text)?.groups?.['command']
  const afterwards = /^Then: (?<command>kvup upgrade --to \S+)/mu.exec(text)?.groups?.['command']
  const back = /^Back: (?<command>.+?)(?: {3,}.*)?$/mu.exec(text)?.groups?.['command']
  return { what: head['what'], word: head['word'], cause: head['cause'], next, afterwards, back }
}

// What a command loads when it runs for the first time takes no time of the cluster's.
beforeAll(() =>
  play(byTag, async ({ cluster, clock }) => {
    for (const argv of [[], ['status'], ['upgrade', '--to', 'v1.8.4', '--dry-run=client']])
      await runText(argv, { cluster, clock })
  }),
)

test.each(rows)(
  '%s: the run, its end, a bare kvup and kvup status have one verdict, %s, and one cause',
  async (name, word, cause, command) => {
    const scenario = scenarioNamed(name)
    if (scenario === undefined || !('upgrade' in scenario)) throw new Error(`no upgrade: ${name}`)
    const { to } = scenario.upgrade
    const clock = new SimClock()
    const simulated = await startScenario(scenario, { clock })
    try {
      const files = { 'operator.yaml': asYaml(simulated.operatorManifest(to)) }
      const place = { cluster: simulated.cluster(), clock, files }
      const args = typed(scenario).args.map((arg) => (arg === '-' ? 'operator.yaml' : arg))
      const run = await runText(['upgrade', ...args, '--yes'], place)
      const bare = await runText([], place)
      const status = await runText(['status'], place)
      const again = await runText(['upgrade', ...args, '--yes'], place)

      expect([run.code, again.code]).toEqual([4, 4])
      const end = headOf(run.err)
      expect(end.word).toBe(word)
      expect(end.cause).toMatch(cause)
      expect(end.next).toMatch(command)
      // The line that was just given up is never the next one; it comes behind the cause.
      const goal = `kvup upgrade --to ${to}`
      expect(end.next?.startsWith(`${goal} `) ? goal : end.afterwards).toBe(goal)
      expect(headOf(bare.out)).toEqual({ ...end, back: headOf(bare.out).back })
      expect(headOf(status.out)).toEqual(headOf(bare.out))
      expect(headOf(again.err)).toMatchObject({ word, next: end.next })
      expect(headOf(again.err).cause).toMatch(cause)

      // While it is at work it says the same word, and the error says it once more.
      const other = word === 'STALLED' ? 'DEGRADED' : 'STALLED'
      expect(run.err).toContain(`${word} while waiting for `)
      expect(run.err).toMatch(new RegExp(`^  ${word.toLowerCase()} for [^:]*while waiting for `, 'mu'))
      expect(run.err).not.toMatch(new RegExp(other, 'iu'))
      for (const text of [run.err, bare.out, status.out, again.err])
        expect(text).not.toMatch(/by itself|\b0 s ago|: updating/u)
    } finally {
      await simulated.stop()
    }
  },
  2 * minute,
)
