import type { RehearsedStep } from '../../procedure/rehearse.ts'
import { displayWidth, pad } from '../display-width.ts'
import type { Paint, Size } from '../printer.ts'
import { wrap } from '../wrap.ts'
import { diffText, stepDiff } from './step-diff.ts'

const indent = ' '.repeat(4)
const most = 20

/** A dry run of a few steps, each with what it would change; `mode` names it as kubectl does. */
export function rehearsedLines(
  { steps, mode }: { steps: readonly RehearsedStep[]; mode: 'client' | 'server' },
  paint: Paint,
  size: Size,
): readonly string[] {
  const fitted = (lines: readonly string[]) => lines.flatMap((line) => wrap(line, size.columns))
  const width = Math.max(0, ...steps.map(({ title }) => displayWidth(title)))
  return [
    `${mode} dry run: nothing was changed`,
    ...steps.flatMap((step) => [
      ...fitted([
        `${pad(step.title, size.columns < 60 ? 0 : width)}   ${stateText(step, steps)}`,
        ...(step.refused
          ? [`${indent}${paint.bad(paint.mark.failed)} refused: ${step.refused.message}`]
          : []),
      ]),
      ...diffLines(step, paint, size),
      ...fitted((step.keeps ?? []).map(({ path, value }) => `${indent}keeps ${path}: ${valueOf(value)}`)),
    ]),
  ]
}

/** Steps are named by their titles, as everywhere on this page. */
function stateText(step: RehearsedStep, steps: readonly RehearsedStep[]): string {
  const { state, change, on, dependsOn } = step
  const before = steps.find(({ id }) => id === dependsOn)?.title ?? dependsOn
  if (state === 'would-change') return `would change: ${change ?? ''}`
  if (state === 'already-so') return 'already so'
  if (state === 'depends')
    return backText(step, steps) ?? `depends on ${before ?? 'the step before it'}, cannot be rehearsed`
  return on === undefined ? 'cannot go on' : `waits for ${on}`
}

/** What the step gives back is known from the one that keeps it. */
function backText({ id }: RehearsedStep, steps: readonly RehearsedStep[]): string | undefined {
  for (const { title, keeps = [] } of steps) {
    const kept = keeps.find(({ givenBackBy }) => givenBackBy === id)
    if (kept) return `gives ${fieldOf(kept.path)} back: ${valueOf(kept.value)}, which "${title}" keeps`
  }
  return undefined
}

const fieldOf = (path: string): string =>
  path.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')

const valueOf = (value: unknown): string => (value === undefined ? 'absent' : JSON.stringify(value))

function diffLines({ changes = [] }: RehearsedStep, paint: Paint, size: Size): readonly string[] {
  const { lines, more } = stepDiff(changes, size.wide ? Infinity : most)
  const signed = (line: string) =>
    line.startsWith('+') ? paint.good(line) : line.startsWith('-') ? paint.bad(line) : line.trimStart()
  return [
    ...lines.map((line) => indent + signed(diffText(line, size.columns - indent.length))),
    ...(more === undefined ? [] : [`${indent}… ${more} (-o yaml)`]),
  ]
}
