import type { StepLine } from './progress.ts'

/** What one line of the live view shows: a step, or a part of several with the one that is at work in it. */
export interface PartLine extends StepLine {
  /** The step at work, or how many are done, where the line is of a part. */
  inner?: string
}

/** Steps that follow one another and are of one part are one line, such as a hop of an EUS window with its gate, request and nodes. */
export function partLines(steps: readonly StepLine[]): PartLine[] {
  const parts: StepLine[][] = []
  for (const step of steps) {
    const last = parts.at(-1)
    if (last && step.part !== undefined && last[0]?.part === step.part) last.push(step)
    else parts.push([step])
  }
  return parts.flatMap(([first, ...more]) =>
    first === undefined ? [] : [more.length === 0 ? first : partOf(first, [first, ...more])],
  )
}

function partOf(first: StepLine, steps: readonly StepLine[]): PartLine {
  const { id, part = '' } = first
  const estimate = steps.reduce((sum, step) => sum + step.estimate, 0)
  const line = { id, title: part, estimate }
  const atWork = steps.find(({ shape }) => shape !== 'done' && shape !== 'todo')
  if (atWork) {
    const { title, note: _, ...rest } = atWork
    return { ...rest, ...line, ...(title !== part && { inner: title }) }
  }
  const done = steps.filter(({ shape }) => shape === 'done')
  if (done.length === steps.length) return { ...line, shape: 'done', ...endOf(steps) }
  return {
    ...line,
    shape: 'todo',
    ...(done.length > 0 && { inner: `${done.length} of ${steps.length} steps done` }),
  }
}

const nothingChanged = 'already so'

/** What its steps found, where they say one thing; that nothing had to be done only where that is true of all. */
function endOf(steps: readonly StepLine[]): Pick<StepLine, 'note' | 'tookMs'> {
  const tookMs = steps.reduce((sum, step) => sum + (step.tookMs ?? 0), 0)
  const notes = new Set(steps.map(({ note = '' }) => note).filter(Boolean))
  if (notes.size > 1) notes.delete(nothingChanged)
  const [said = ''] = notes
  const isTrue = notes.size === 1 && (said !== nothingChanged || steps.every(({ note }) => note === said))
  return { tookMs, note: isTrue ? said : '' }
}
