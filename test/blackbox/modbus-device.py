"""pymodbus's own RTU server with units 1 and 2, and a log of every request that it executes.

Usage: modbus-device.py PORT LOG SEED LATE MUTE LATENCY_MAX_MS

Each unit has a register of one word at 0 and one of two words at 10, both 0 at first. A unit answers in order; two units
do not wait for each other.
"""
import asyncio
import sys

from pymodbus.datastore import ModbusSequentialDataBlock, ModbusServerContext, ModbusSlaveContext
from pymodbus.server.async_io import ModbusSerialServer, ModbusSingleRequestHandler
from pymodbus.transaction import ModbusRtuFramer

from device_log import DeviceLog, Fates, now_ms

path, log_path, seed, late, mute, latency_max_ms = sys.argv[1:]
log = DeviceLog(log_path)
fates = Fates(seed, log.boot, float(late), float(mute), float(latency_max_ms))
REGISTERS = {0: ("word", 1), 10: ("long", 2)}
READ, WRITE_ONE, WRITE_MANY = 3, 6, 16
HOLDING = 3
answers_at = {1: 0.0, 2: 0.0}


def unit(number):
    context = ModbusSlaveContext(hr=ModbusSequentialDataBlock(0, [0] * 100), zero_mode=True)
    for entry in log.entries:
        device, _, register = entry.get("resource", "").partition(".")
        if entry["kind"] != "set" or device != f"meter_{number}":
            continue
        value = entry["value"]
        if register == "word":
            context.setValues(HOLDING, 0, [value])
        else:
            context.setValues(HOLDING, 10, [value >> 16, value & 0xFFFF])
    return context


class LoggedHandler(ModbusSingleRequestHandler):
    def execute(self, request, *addr):
        register, words = REGISTERS.get(getattr(request, "address", -1), (None, 0))
        number = request.unit_id
        if number not in answers_at or register is None:
            return
        function = request.function_code
        if function == READ and request.count == words:
            kind, held = "read", self.server.context[number].getValues(HOLDING, request.address, words)
        elif function == WRITE_ONE and words == 1:
            kind, held = "set", [request.value]
        elif function == WRITE_MANY and request.count == words:
            kind, held = "set", request.values
        else:
            return
        value = 0
        for word in held:
            value = value * 65536 + word
        self.received_at = now_ms()
        self.fate, self.delay_ms = fates.draw()
        log.write(
            kind,
            resource=f"meter_{number}.{register}",
            value=value,
            fate=self.fate,
            delayMs=round(self.delay_ms),
        )
        super().execute(request, *addr)

    def send(self, message, *addr, **kwargs):
        if self.fate == "mute":
            return
        received_at = self.received_at
        answers_at[message.unit_id] = max(answers_at[message.unit_id], received_at + self.delay_ms)

        def answer():
            # A lost cable does not stop the device: what it has to say is said on the next one.
            current = self.server.protocol
            if current is not None and not fates.is_too_late(received_at):
                ModbusSingleRequestHandler.send(current, message, *addr, **kwargs)

        delay_ms = max(0, answers_at[message.unit_id] - now_ms())
        asyncio.get_running_loop().call_later(delay_ms / 1000, answer)


async def main():
    context = ModbusServerContext(slaves={1: unit(1), 2: unit(2)}, single=False)
    server = ModbusSerialServer(
        context=context,
        framer=ModbusRtuFramer,
        port=path,
        baudrate=115200,
        timeout=1,
        ignore_missing_slaves=True,
        handler=LoggedHandler,
        auto_reconnect=True,
        reconnect_delay=0.05,
    )
    await server.start()
    print("ready", flush=True)
    await server.serve_forever()


asyncio.run(main())
