import { describe, expect, test } from 'vitest'
import { displayWidth, fenced, inlineCode, markdownText } from '../../../src/lib/output/text.ts'
import { paintFor } from '../../../src/lib/output/terminal.ts'
import { diffText, stepDiff } from '../../../src/lib/output/views/dry-run.ts'
import { planView } from '../../../src/lib/output/views/upgrade/upgrade-plan.ts'
import type { PlanDocument } from '../../../src/lib/upgrade/plan/plan-document.ts'
import { samplePlan } from './sample-plan.ts'

const paint = paintFor({ colour: false, unicode: true })
const page = (plan: PlanDocument, columns: number, wide = false) =>
  planView.text(plan, paint, { columns, wide })
const markdown = (plan: PlanDocument) => planView.formats?.markdown?.(plan) ?? ''

describe('the page of a plan', () => {
  test.each([80, 40])('at %i columns', async (columns) => {
    const lines = page(samplePlan, columns)
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`golden/upgrade-plan-${columns}.txt`)
    const long = lines.filter((line) => displayWidth(line) > columns)
    expect(long.filter((line) => line.trim().includes(' '))).toEqual([])
  })

  test('as Markdown', async () => {
    await expect(markdown(samplePlan)).toMatchFileSnapshot('golden/upgrade-plan.md')
  })

  test('what stops it comes first, then what was accepted, then the rest', () => {
    const text = page(samplePlan, Infinity)
    const found = ['manifest-conflicts', 'evictions', 'odd', 'fyi'].map((id) =>
      text.findIndex((line) => line.includes(`(${id})`)),
    )
    expect(found.every((at) => at > 0)).toBe(true)
    expect(found).toEqual(found.toSorted((a, b) => a - b))
    expect(text).toContain(
      '· accepted, "maintenance window" by jane@here: VMs may be shut down: 3 of 211 (evictions)',
    )
    expect(text.at(-1)).toBe('✖ refused as it stands: manifest-conflicts')
  })

  test('on a pipe nothing is cut, and with -o wide no line of a diff is left out', () => {
    const piped = page(samplePlan, Infinity).join('\n')
    expect(piped).toContain('- spec.template.spec.containers[virt-operator].env[TEXT].value: "two\\nlines"')
    // What pods run and may do comes first, versions last.
    expect(piped).toContain('… and 2 more fields, 1 more object (-o yaml)')
    const wide = page(samplePlan, Infinity, true).join('\n')
    expect(wide).not.toContain('more')
    expect(wide).toContain('+ rules[0].verbs: [get]')
    expect(wide).toContain(
      '+ spec.template.spec.containers[virt-operator].image: quay.io/kubevirt/virt-operator:v1.9.0',
    )
  })

  test('what kvup worked out itself is said where the server was to be asked', () => {
    const says = (['auto', 'server', 'client'] as const).map(
      (dryRun) =>
        page({ ...samplePlan, dryRun }, Infinity).filter((line) => line.includes('worked out by kvup'))
          .length,
    )
    expect(says).toEqual([1, 1, 0])
  })

  test('without times it guesses, and without a step that gives back it says so', () => {
    const { time: _, next: __, ...rest } = samplePlan
    const overrides = [{ override: 'workload-updates', path: '/spec/a', value: { tag: 'v1', registry: 'q' } }]
    const steps = rest.steps.map((step) => (step.overrides ? { ...step, overrides } : step))
    const text = page({ ...rest, steps }, Infinity)
    expect(text.at(-2)).toMatch(/^estimate 2 m 20 s; kvup guesses/u)
    expect(text.at(-1)).toBe('✖ refused as it stands: manifest-conflicts')
    expect(text).toContain(
      '    saves: a (tag v1, registry q); not restored by this plan: kvup workloads resume-updates does it',
    )
  })
})

test('at any width no line of a diff is longer than there is room', () => {
  const { lines } = stepDiff(
    samplePlan.steps.flatMap(({ changes = [] }) => changes),
    Infinity,
  )
  for (const width of [12, 20, 33, 40, 57, 80])
    expect(lines.map((line) => displayWidth(diffText(line, width))).filter((is) => is > width)).toEqual([])
  const image = lines.filter(({ path }) => path?.endsWith('.image'))
  expect(image.map((line) => diffText(line, 40))).toEqual([
    expect.stringMatching(/^- ….*image: quay.*:v1\.8\.4$/u),
    expect.stringMatching(/^\+ ….*image: quay.*:v1\.9\.0$/u),
  ])
})

test('a deletion and a call are lines by themselves', () => {
  const object = { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'a' }
  const changes = [
    { object, is: 'deleted', fields: [], by: 'server' },
    { object, is: 'called', fields: [], by: 'server', call: 'eviction' },
  ] as const
  expect(stepDiff(changes, 6)).toEqual({
    lines: [
      { sign: '-', text: 'Pod shop/a' },
      { sign: '+', text: 'eviction of Pod shop/a' },
    ],
  })
})

describe('text of somebody else in Markdown', () => {
  const nasty = 'a|b `c` **d** <img src=x> [e](http://f)\n# g ```'

  test('stays text on one line', () => {
    expect(markdownText(nasty)).toBe(
      String.raw`a\|b \`c\` \*\*d\*\* \<img src=x\> \[e\](http://f) \# g ` + String.raw`\`\`\``,
    )
    expect(inlineCode('a``b')).toBe('``` a``b ```')
    expect(inlineCode('plain')).toBe('`plain`')
    expect(fenced(['a ```` b'])).toEqual(['`````', 'a ```` b', '`````'])
  })

  test('wherever it comes from, the page is built as without it', () => {
    const [first, ...others] = samplePlan.findings
    const evil: PlanDocument = {
      ...samplePlan,
      findings: [{ ...first!, summary: nasty, remedy: [nasty] }, ...others],
      said: [nasty],
      steps: samplePlan.steps.map((step) =>
        Object.assign({}, step, {
          title: nasty,
          ...(step.on !== undefined && { on: nasty }),
          ...(step.refused && { refused: { reason: '', message: nasty } }),
          changes: (step.changes ?? []).map((change) =>
            Object.assign({}, change, {
              object: { ...change.object, name: nasty },
              fields: change.fields.map(({ path }) => ({ path: `${path}[${nasty}]`, to: nasty })),
            }),
          ),
        }),
      ),
      next: [nasty],
    }
    const text = markdown(evil)
    const outside = withoutCode(text)
    expect(outside.match(/^#+ .*$/gmu)).toEqual(withoutCode(markdown(samplePlan)).match(/^#+ .*$/gmu))
    expect(outside).not.toMatch(/(?<!\\)<img|(?<!\\)\*\*d|(?<!\\)\[e|(?<!\\)`c/u)
  })
})

/** What is between fences of the same length, left out. */
function withoutCode(text: string): string {
  let fence: string | undefined
  return text
    .split('\n')
    .filter((line) => {
      const [, run] = /^ *(`{3,})[a-z]*$/u.exec(line) ?? []
      if (fence === undefined && run !== undefined) fence = run
      else if (run === fence && run !== undefined) fence = undefined
      return fence === undefined && run === undefined
    })
    .join('\n')
}
