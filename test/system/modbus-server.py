"""pymodbus's own RTU server on a serial port: units 1 and 2, each with holding and input registers and coils.

Register n of unit u holds u * 1000 + n (input registers: u * 2000 + n); all coils are off.
"""
import asyncio
import sys

from pymodbus.datastore import ModbusSequentialDataBlock, ModbusServerContext, ModbusSlaveContext
from pymodbus.server import StartAsyncSerialServer
from pymodbus.transaction import ModbusRtuFramer


def unit(number):
    return ModbusSlaveContext(
        co=ModbusSequentialDataBlock(0, [False] * 100),
        di=ModbusSequentialDataBlock(0, [False] * 100),
        hr=ModbusSequentialDataBlock(0, [number * 1000 + n for n in range(200)]),
        ir=ModbusSequentialDataBlock(0, [number * 2000 + n for n in range(200)]),
        zero_mode=True,
    )


async def main(path):
    context = ModbusServerContext(slaves={1: unit(1), 2: unit(2)}, single=False)
    print("ready", flush=True)
    await StartAsyncSerialServer(
        context=context, framer=ModbusRtuFramer, port=path, baudrate=115200, timeout=1, ignore_missing_slaves=True
    )


asyncio.run(main(sys.argv[1]))
