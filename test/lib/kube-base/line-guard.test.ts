import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { blocked } from '../../../src/lib/kube/errors.ts'
import { dangerIn, throwAtDanger } from '../../../src/lib/kube/line-guard.ts'
import { withoutDanger } from '../../../src/lib/output/command-line.ts'
import { toType } from '../../../src/lib/output/terminal.ts'
import { wrap } from '../../../src/lib/output/text.ts'
import fixture from './line-guard.json' with { type: 'json' }

const deletes = fixture.deletes
const kinds =
  `kubevirt kv hyperconverged hco node nodes vm virtualmachine vmi virtualmachineinstance pvc persistentvolumeclaim pv datavolume dv namespace ns crd customresourcedefinition
  csv clusterserviceversion subscription catalogsource operatorgroup daemonset deployment replicaset statefulset service secret configmap lease validatingwebhookconfiguration
  mutatingwebhookconfiguration apiservice poddisruptionbudget resourcequota machineconfigpool machine machinehealthcheck clusterversion nodemaintenance volumesnapshot
  virtualmachinesnapshot virtualmachineexport migrationpolicy clusterrole clusterrolebinding role rolebinding networkpolicy event all`.split(
    /\s+/u,
  )
const never = [
  ...kinds.flatMap((kind) => [
    `delete ${kind} x`,
    `delete ${kind}/x`,
    `-n y delete ${kind} x --wait=false`,
    `delete ${kind} --all`,
  ]),
  ...[
    'pod x',
    'pods --all',
    'pods -l app=x',
    'pods -l kubevirt.io=virt-launcher',
    '-f x.yaml',
    'job a b',
    'jobs --all',
    'installplans --all',
    'pod,kubevirt virt-api-x',
  ].map((what) => `delete ${what}`),
  'delete job/x configmap/x',
  `patch vm x --type=merge -p '{"metadata":{"finalizers":null}}'`,
  `patch vm x --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'`,
  `patch validatingwebhookconfiguration x --type=json -p '[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Ignore"}]'`,
  `patch crd x --subresource=status --type=merge -p '{}'`,
  `patch crd x --subresource status -p '{}'`,
  `patch vmi x --type=json -p '[{"op":"remove","path":"/status/evacuationNodeName"}]'`,
  `patch kubevirt x --type=merge -p '{"status":{}}'`,
  'annotate machinehealthchecks.machine.openshift.io x cluster.x-k8s.io/paused=',
  `patch nodehealthchecks.remediation.medik8s.io x --type=merge -p '{"spec":{"pauseRequests":["x"]}}'`,
  'replace --force -f -',
  'drain node01 --force',
  'delete pod virt-api-x --force --grace-period=0',
]
const programs = ['kubectl', 'oc', 'kubectl --context prod -n x', 'virtctl -n x']

describe('a printed line', () => {
  test.each(deletes)('may delete %s', (what) => {
    for (const program of programs)
      expect(dangerIn(`${program} delete ${what}     says what`)).toBeUndefined()
  })

  test.each(never)('may not: %s', (what) => {
    for (const line of programs.map((program) => `${program} ${what}`))
      for (const printed of [line, `kubectl get x -o yaml | ${line}     says what`, `true && ${line}`]) {
        expect(dangerIn(printed)).toBeDefined()
        expect(() => blocked('x', 'x', { remedy: printed })).toThrow('a line to type')
        expect(() => wrap(`  ${toType('→', printed)}`, 40)).toThrow('a line to type')
        for (const field of ['remedy', 'next', 'commands', 'instead'])
          expect(() => withoutDanger({ items: [{ [field]: [printed] }, { [field]: printed }] })).toThrow(
            'a line to type',
          )
      }
  })

  test('is left out of errors, documents and screens in the product, and nothing else is', () => {
    const [bad, good] = ['kubectl delete kubevirt kubevirt', 'kubectl get kubevirt']
    throwAtDanger(false)
    try {
      expect(blocked('x', 'x', { remedy: [bad, good] }).remedy).toEqual([good])
      expect(wrap(toType('→', bad), 80)).toEqual([])
      expect(withoutDanger({ next: bad, is: bad, items: [{ remedy: [good, bad] }] })).toEqual({
        is: bad,
        items: [{ remedy: [good] }],
      })
    } finally {
      throwAtDanger()
    }
  })

  test('that only reads, waits or applies may say the same words', () => {
    for (const line of fixture.l96) expect(dangerIn(line)).toBeUndefined()
  })
})

const filesIn = (folder: string, ends: RegExp) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) =>
    ends.test(name) ? [`${folder}/${name}`] : [],
  )

/** Each text of a source as it is printed: a value is a name, a joined string one line. */
const textsOf = (source: string) =>
  source
    .replaceAll(/'\s*\+\s*'/gu, '')
    // The selectors of what kvup makes.
    .replaceAll(/\$\{(?:probeLabel|jobSelector\(place\))\}/gu, 'kvup.io/x')
    .replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/gu, 'virt-x')
    .split('\n')

test('no text of kvup, no explanation and no page has a line that may not be printed', () => {
  const sources = filesIn('src', /(?<!\.test)\.(?:ts|json)$/u).filter(
    (name) => !/simulator|line-guard|releases\.json/u.test(name),
  )
  const pages = [...filesIn('docs/guide', /\.md$/u), 'docs/checks.md', 'README.md', 'docs/exit-codes.md']
  const found = [...sources, ...pages].flatMap((name) => {
    const text = readFileSync(name, 'utf8')
    const lines = name.endsWith('.json')
      ? text
          .replaceAll(String.raw`\n`, '\n')
          .replaceAll(String.raw`\"`, '"')
          .split('\n')
      : textsOf(text)
    return lines.flatMap((line) =>
      dangerIn(line.replaceAll(/["'](?=(?:kubectl|oc|virtctl) )/gu, ' ')) === undefined
        ? []
        : [`${name}: ${line.trim()}`],
    )
  })
  expect(found).toEqual([])
  expect(sources.length).toBeGreaterThan(300)
})
