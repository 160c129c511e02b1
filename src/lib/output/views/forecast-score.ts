import type { ScoredItem } from '../../workloads/forecast/score.ts'
import type { Document, Paint, RowsView, Tone } from '../printer.ts'
import { outcomeWords } from './workload-forecast.ts'

/** Besides its `items`, which are ScoredItem. Times are RFC 3339. */
export interface ForecastScoreDocument extends Document {
  kind: 'WorkloadForecast'
  asOf: string
  /** When the forecast was made, and for which version. */
  forecastOf: { asOf: string; to?: string }
  score: { total: number; agreed: number; unknown: number }
}

export const forecastScoreView: RowsView<ScoredItem, ForecastScoreDocument> = {
  columns: [
    { name: 'NAMESPACE', cell: ({ namespace }) => namespace },
    { name: 'NAME', cell: ({ name }) => name },
    { name: 'FORECAST', cell: ({ will }) => outcomeWords[will].one },
    { name: 'BECAME', cell: ({ became }) => (became === 'runs' ? 'runs' : outcomeWords[became].one) },
    { name: 'AGREES', cell: ({ agreed }) => (agreed ? 'yes' : 'no'), tone: toneOf },
  ],
  name: ({ name }) => `virtualmachine.kubevirt.io/${name}`,
  below: ({ score: { total, agreed, unknown } }, paint) => [
    `${scored(total, agreed, paint)}${unknown === 0 ? '' : `; of ${unknown} nothing was forecast`}`,
  ],
}

function toneOf({ agreed }: ScoredItem): Tone {
  return agreed ? 'good' : 'bad'
}

function scored(total: number, agreed: number, paint: Paint): string {
  const text = `the forecast agrees with what became of ${agreed} of ${total} VMs`
  return agreed === total ? paint.good(text) : paint.warn(text)
}
