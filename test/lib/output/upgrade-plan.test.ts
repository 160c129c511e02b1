import { describe, expect, test } from 'vitest'
import { displayWidth, fenced, inlineCode, markdownText } from '../../../src/lib/output/text.ts'
import { paintFor, printedLine } from '../../../src/lib/output/terminal.ts'
import { diffText, stepDiff } from '../../../src/lib/output/views/dry-run.ts'
import { planView } from '../../../src/lib/output/views/upgrade/upgrade-plan.ts'
import type { PlanDocument } from '../../../src/lib/upgrade/plan/plan-document.ts'
import oneOfEach from './sample-plan.json' with { type: 'json' }

/** One of each thing that a plan can say. */
const samplePlan = oneOfEach as unknown as PlanDocument
const paint = paintFor({ colour: false, unicode: true })
const page = (plan: PlanDocument, columns: number, wide = false, rows?: number) =>
  planView.text(plan, paint, { columns, wide, ...(rows !== undefined && { rows }) }).map(printedLine)
const markdown = (plan: PlanDocument) => planView.formats?.markdown?.(plan) ?? ''

const blocker = (remedy: string[]): PlanDocument => ({
  ...samplePlan,
  findings: [
    { id: 'evictions', level: 'blocker', summary: 'a', remedy: [] },
    { id: 'bad', level: 'blocker', summary: 'b', remedy },
  ],
})

const last = (remedy: string[]) => page(blocker(remedy), Infinity).at(-1)

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

  test('with -o wide, all that a plan can say', async () => {
    const lines = page(samplePlan, 80, true)
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/upgrade-plan-wide.txt')
  })

  test('a plan that may begin ends with the lines that carry it out and save it', () => {
    const next = [
      'kvup upgrade --to v1.9.0     runs it',
      'kvup plan --to v1.9.0 --to-file p.yaml     saves it',
    ]
    const findings = samplePlan.findings.filter(({ level }) => level !== 'blocker')
    const text = page({ ...samplePlan, findings, accepted: [], next }, Infinity)
    expect(text[0]).toBe(
      'Plan: KubeVirt v1.8.4 → v1.9.0, 7 steps, 4 to 7 min, 1 warning, 1 info. Nothing was changed.',
    )
    expect(text.slice(-2)).toEqual([`Next: ${next[0]}`, `Or: ${next[1]}`])
    expect(text.join('\n')).not.toMatch(/undo:|gives up|safe to leave|sealed|sha256|note:/u)
  })

  test('where nothing is left to be done that is all it says', () => {
    const text = page({ ...samplePlan, pending: false, findings: [], accepted: [], said: [] }, Infinity)
    expect(text).toEqual(['Plan: nothing to do: KubeVirt v1.9.0 is healthy. Nothing was changed.'])
  })

  test.each([24, 16, 10])('of %i rows the verdict and the next line are among the last', (rows) => {
    const text = page(samplePlan, 80, false, rows)
    const seen = text.slice(-(rows - 6))
    expect(seen.find((line) => line.startsWith('Plan: BLOCKED'))).toBeDefined()
    expect(seen.at(-1)).toBe('Next: kvup explain manifest-conflicts')
  })

  test('on a screen that has just enough rows the blank lines go, and the verdict stays first', () => {
    const [airy, tight] = [page(samplePlan, 80), page(samplePlan, 80).filter((line) => line !== '')]
    expect(page(samplePlan, 80, false, airy.length + 7)).toEqual(airy)
    expect(page(samplePlan, 80, false, tight.length + 7)).toEqual(tight)
    expect(page(samplePlan, 80, false, tight.length + 6)[0]).toBe(
      '  1 wait for running migrations   already so',
    )
  })

  test('what helps is no upgrade without the risks that were accepted, and none that takes the risk', () => {
    expect(last(['kvup upgrade --to v1.8.5'])).toBe('Next: kvup explain bad')
    expect(last(['kvup upgrade --to v1.9.0 --accept bad'])).toBe('Next: kvup explain bad')
    expect(last(['kubectl uncordon a'])).toBe('Next: kvup explain bad')
    expect(last(['kubectl uncordon a', 'kvup status'])).toBe('Next: kvup status')
  })

  test('with -o wide no line of a diff is left out, and nothing is cut on a pipe', () => {
    const wide = page(samplePlan, Infinity, true).join('\n')
    expect(wide).toContain('- spec.template.spec.containers[virt-operator].env[TEXT].value: "two\\nlines"')
    expect(wide).not.toContain('more')
    expect(wide).toContain('+ rules[0].verbs: [get]')
    expect(wide).toContain(
      '+ spec.template.spec.containers[virt-operator].image: quay.io/kubevirt/virt-operator:v1.9.0',
    )
  })

  test('what kvup worked out itself is said where the server was to be asked', () => {
    const says = (['auto', 'server', 'client'] as const).map(
      (dryRun) =>
        page({ ...samplePlan, dryRun }, Infinity, true).filter((line) => line.includes('worked out by kvup'))
          .length,
    )
    expect(says).toEqual([1, 1, 0])
  })

  test('without times it guesses, and without a step that gives back it says so', () => {
    const { time: _, next: __, ...rest } = samplePlan
    const overrides = [{ override: 'workload-updates', path: '/spec/a', value: { tag: 'v1', registry: 'q' } }]
    const steps = rest.steps.map((step) => (step.overrides ? { ...step, overrides } : step))
    const text = page({ ...rest, steps }, Infinity, true)
    expect(text[0]).toContain(', 7 steps, about 2 m 20 s, ')
    expect(text.find((line) => line.startsWith('estimate'))).toMatch(/^estimate 2 m 20 s; kvup guesses/u)
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
      String.raw`a\|b \`c\` \*\*d\*\* \<img src=x\> \[e\](${'`http://f`'}) \# g ` + String.raw`\`\`\``,
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
