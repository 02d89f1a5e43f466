require 'net/smtp'

# Sends letters.
module Post
  class Mailer < Base
    LIMIT = 3

    attr_reader :host

    # Opens a connection.
    def initialize(host)
      @host = host
    end

    def self.default
      new('localhost')
    end

    def deliver(letter, times: 1)
      if letter.empty?
        raise ArgumentError
      else
        send(letter)
      end
    end
  end
end
