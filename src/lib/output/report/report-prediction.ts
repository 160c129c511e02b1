import { spanText, takesAlike } from '../../kube/duration.ts'
import { stagesOf } from './event-timeline.ts'
import { type Fields, fieldsOf, listOf, numberOf, placedName, textOf } from './fields.ts'
import type { ReportSource } from './report-source.ts'

/** What was expected, and what became of it. */
export interface Prediction {
  /** Who predicted: a rehearsal, or the estimates that a run begins with. */
  by: string
  rows: readonly PredictedRow[]
  says: readonly string[]
}

interface PredictedRow {
  what: string
  predicted: string
  happened: string
  /** Absent where only one of the two is known. */
  agrees?: boolean
  /** Where it does not: taking less time than expected is no harm. */
  differs?: 'faster' | 'slower'
}

/** From the rehearsal that the run was compared with, else from the estimates of its events; undefined where there is neither. */
export function predictionOf({ document, events }: ReportSource): Prediction | undefined {
  const rehearsal = fieldsOf(document['rehearsal'])
  if (Array.isArray(rehearsal['stages'])) return ofRehearsal(rehearsal)
  const rows = estimated(events)
  const isPart = rows.length < stagesOf(events).length
  return rows.length === 0
    ? undefined
    : {
        by: 'the estimates of the run',
        rows,
        says: [
          'An estimate agrees within a factor of 2, or 5 s.',
          ...(isPart ? ['Stages that this run did not do from beginning to end are not compared.'] : []),
        ],
      }
}

function ofRehearsal(rehearsal: Fields): Prediction {
  const rows = listOf(rehearsal['stages']).map(rehearsedRow)
  return {
    by: `a rehearsal (seed ${textOf(rehearsal['seed']) ?? 'unknown'})`,
    rows,
    says: rehearsalNotes(rehearsal),
  }
}

function rehearsedRow(stage: Fields): PredictedRow {
  const [rehearsed, took, agrees] = [numberOf(stage['rehearsed']), numberOf(stage['took']), stage['agrees']]
  return {
    what: textOf(stage['name']) ?? '',
    predicted: secondsText(rehearsed),
    happened: secondsText(took),
    ...(typeof agrees === 'boolean' && judged(agrees, rehearsed ?? 0, took ?? 0)),
  }
}

const judged = (agrees: boolean, expected: number, took: number): Pick<PredictedRow, 'agrees' | 'differs'> =>
  agrees ? { agrees } : { agrees, differs: took < expected ? 'faster' : 'slower' }

const secondsText = (seconds: number | undefined): string =>
  seconds === undefined ? 'unknown' : spanText(seconds * 1000)

function rehearsalNotes(rehearsal: Fields): readonly string[] {
  const order =
    rehearsal['sameOrder'] === false
      ? ['The stages came in another order.']
      : ['The stages came in this order.']
  const vms = fieldsOf(rehearsal['vms'])
  const [total, agreed, open] = [numberOf(vms['total']), numberOf(vms['agreed']), numberOf(vms['open']) ?? 0]
  if (total === undefined || agreed === undefined) return [...order, 'VMs were not compared.']
  const waiting = open > 0 ? `; KubeVirt has not come to ${open} yet` : ''
  const others = listOf(vms['items'])
    .slice(0, 10)
    .map((vm) => `${placedName(vm)}: rehearsed ${textOf(vm['rehearsed'])}, tried ${textOf(vm['tried'])}`)
  return [...order, `With ${agreed} of ${total} VMs KubeVirt tried what was rehearsed${waiting}.`, ...others]
}

/** By stages: an estimate of a step is also of what comes up to do it. */
function estimated(events: readonly Fields[]): readonly PredictedRow[] {
  return stagesOf(events).flatMap(({ name, from, to, estimate }): readonly PredictedRow[] => {
    if (to === undefined || estimate === undefined) return []
    const took = to - from
    return [
      {
        what: name,
        predicted: spanText(estimate),
        happened: spanText(took),
        ...judged(takesAlike(estimate, took), estimate, took),
      },
    ]
  })
}
