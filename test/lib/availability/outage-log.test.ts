import { expect, test } from 'vitest'
import { ApiOutages, OutageLog } from '../../../src/lib/availability/outage-log.ts'

const at = (ticks: number) => `t${ticks}`
const quiet = { rolling: [] }

test('an outage begins with the first call that failed and ends with the first answer, with what went on meanwhile', () => {
  const log = new OutageLog()
  log.down(1000, 'refused', { rolling: ['virt-handler'], step: 'roll-virt-handler' })
  log.down(2000, 'no answer', { rolling: ['virt-api'] })
  log.note({ rolling: ['virt-api', 'virt-controller'], step: 'roll-virt-api' })
  log.up(11_000)
  expect(log.figures(20_000, at)).toEqual({
    unavailableSeconds: 10,
    longestSeconds: 10,
    count: 1,
    outages: [
      {
        begin: 't1000',
        end: 't11000',
        seconds: 10,
        why: 'refused',
        rolling: ['virt-api', 'virt-controller', 'virt-handler'],
        steps: ['roll-virt-handler', 'roll-virt-api'],
      },
    ],
  })
})

test('one that has not ended counts up to now, and has no end', () => {
  const log = new OutageLog()
  log.down(1000, 'refused', quiet)
  expect(log.unavailableMs(61_000)).toBe(60_000)
  const { outages } = log.figures(61_000, at)
  expect(outages).toEqual([{ begin: 't1000', seconds: 60, why: 'refused' }])
})

test('of ten thousand outages fifty are kept, the longest; the sums count all', () => {
  const log = new OutageLog()
  for (let i = 0; i < 10_000; i++) {
    const begin = i * 10_000
    log.down(begin, 'refused', { rolling: Array.from({ length: 100 }, (_, n) => `component-${n}`) })
    log.up(begin + (i % 100 === 0 ? 5000 : 1000))
  }
  const { count, unavailableSeconds, longestSeconds, outages } = log.figures(1e9, at)
  expect({ count, unavailableSeconds, longestSeconds }).toEqual({
    count: 10_000,
    unavailableSeconds: 10_400,
    longestSeconds: 5,
  })
  expect(outages).toHaveLength(50)
  expect(new Set(outages.map(({ seconds }) => seconds))).toEqual(new Set([5]))
  expect(Math.max(...outages.map(({ rolling = [] }) => rolling.length))).toBe(12)
})

test('the API is down while any of its probes is, and is counted once', () => {
  const api = new ApiOutages()
  api.down('create', 1000, 'refused', quiet)
  api.down('discovery', 3000, 'refused', quiet)
  api.up('create', 5000)
  api.up('discovery', 9000)
  api.up('list', 9500)
  // A call that was under way when it came back belongs to the outage before.
  api.down('subresource', 8500, 'no answer', quiet)
  api.up('subresource', 9800)
  const { unavailableSeconds, count, outages } = api.log.figures(20_000, at)
  expect({ unavailableSeconds, count }).toEqual({ unavailableSeconds: 8.8, count: 2 })
  expect(outages[0]).toMatchObject({ begin: 't1000', end: 't9000', why: 'create: refused' })
})
