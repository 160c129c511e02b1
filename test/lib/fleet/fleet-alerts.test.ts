import { expect, test } from 'vitest'
import { countedAlerts } from '../../../src/lib/fleet/fleet-alerts.ts'
import type { Reader } from '../../../src/lib/kube/cluster.ts'
import { KvupError } from '../../../src/lib/kube/errors.ts'

const alert = (alertname: string, severity: string) => ({
  state: 'firing',
  labels: { alertname, severity, namespace: 'kubevirt' },
})
const answering = (...alerts: object[]) =>
  ({
    askService: async () => JSON.stringify({ status: 'success', data: { alerts } }),
  }) as Partial<Reader> as Reader

const counted = (reader: Reader, atLeast: 'critical' | 'warning') =>
  countedAlerts(reader, { atLeast, by: 'proxy' })

test('critical ones alone, or warnings too; what only informs never', async () => {
  const reader = answering(alert('Down', 'critical'), alert('Slow', 'warning'), alert('Known', 'info'))
  expect(await counted(reader, 'critical')).toEqual({ firing: ['Down in namespace kubevirt'] })
  expect(await counted(reader, 'warning')).toEqual({
    firing: ['Down in namespace kubevirt', 'Slow in namespace kubevirt'],
  })
})

test('what cannot be read is never silence', async () => {
  expect(await counted({} as Reader, 'critical')).toEqual({ why: 'a saved cluster does not contain alerts' })
  const refusing = {
    askService: async () => {
      throw new KvupError(7, 'forbidden', 'not allowed')
    },
  } as Partial<Reader> as Reader
  expect(await counted(refusing, 'critical')).toHaveProperty('why')
  const broken = { askService: async () => 'no JSON' } as Partial<Reader> as Reader
  expect(await counted(broken, 'critical')).toHaveProperty('why')
})
