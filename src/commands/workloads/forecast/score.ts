import type { Context } from '../../../context.ts'
import { type ForecastScoreDocument, forecastScoreView } from '../../../lib/output/views/forecast-score.ts'
import { usageError } from '../../../lib/system/errors.ts'
import { type ExitCode, exitCode } from '../../../lib/system/exit-codes.ts'
import { type ForecastItem, outcomes } from '../../../lib/workloads/forecast/forecast-item.ts'
import { scoreForecast } from '../../../lib/workloads/forecast/score.ts'
import { readerFor } from '../../reader-for.ts'
import type { ForecastOptions } from './forecast.ts'

interface SavedForecast {
  asOf: string
  to?: string
  items: readonly ForecastItem[]
}

/** Says of each VM of an earlier forecast what became of it. Exit 10 with --exit-code where one went another way. Throws `usage` for a file that is none. */
export async function score(cx: Context, file: string, options: ForecastOptions): Promise<ExitCode> {
  const saved = await savedForecast(cx, file)
  const { cluster, clock } = await readerFor(cx, options.from)
  const rows = cx.printer.rows('WorkloadForecast', forecastScoreView)
  const { items, agreed, unknown } = await scoreForecast(cluster.reader, saved.items)
  rows.add(items)
  const document: ForecastScoreDocument = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'WorkloadForecast',
    asOf: clock.now().toISOString(),
    forecastOf: { asOf: saved.asOf, ...(saved.to !== undefined && { to: saved.to }) },
    score: { total: items.length, agreed, unknown },
  }
  rows.end(document)
  return options.exitCode && agreed < items.length ? exitCode.asked : exitCode.done
}

async function savedForecast({ world }: Context, file: string): Promise<SavedForecast> {
  const text = file === '-' ? await world.readStdin() : await read(world, file)
  try {
    const saved: unknown = JSON.parse(text)
    if (isForecast(saved)) return saved
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw usageError('not-a-forecast', `${JSON.stringify(file)} holds no forecast`, {
    remedy: 'kvup workloads forecast -o json > FILE, before the VMs are moved',
  })
}

async function read(world: Context['world'], file: string): Promise<string> {
  try {
    return await world.readText(file)
  } catch (cause) {
    throw usageError('no-such-file', `cannot read ${JSON.stringify(file)}`, { cause })
  }
}

function isForecast(saved: unknown): saved is SavedForecast {
  const { kind, asOf, items } = (saved ?? {}) as Record<string, unknown>
  return (
    kind === 'WorkloadForecast' && typeof asOf === 'string' && Array.isArray(items) && items.every(isItem)
  )
}

function isItem(item: unknown): item is ForecastItem {
  const { namespace, name, will } = (item ?? {}) as Record<string, unknown>
  const known = will === undefined || outcomes.some((one) => one === will)
  return typeof namespace === 'string' && typeof name === 'string' && known
}
